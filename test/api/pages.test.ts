/** What a companion's own page allows the browser, whatever its owner wrote into the fields. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../support/app.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

async function readPolicy(token: string): Promise<string> {
  return (await fetch(`${server.url}/c/${token}`)).headers.get("content-security-policy") ?? "";
}

test("shows images of the avatar's host", async () => {
  const { embedToken } = await server.createCompanion({ avatarUrl: "https://shop.example/ada.png" });
  expect(await readPolicy(embedToken)).toContain("img-src 'self' data: https://shop.example;");
});

test("a host that is none of the web's adds nothing to the policy", async () => {
  const { embedToken: sound } = await server.createCompanion();
  const withoutImages = (await readPolicy(sound)).replace(/img-src [^;]*/, "img-src 'self' data:");
  for (const host of ["a;sandbox", "a,default-src", "a'b", "a;script-src-elem;b"]) {
    const { embedToken } = await server.createCompanion({ avatarUrl: `https://${host}/x.png` });
    expect(await readPolicy(embedToken)).toBe(withoutImages);
  }
});

test("leaves entries out that are longer than any origin, and lets nobody else in for it", async () => {
  const allowedOrigins = Array.from({ length: 50 }, (_, at) => `https://${"a.".repeat(10_000)}s${at}.example`);
  const { embedToken: long } = await server.createCompanion({ allowedOrigins });
  expect(await readPolicy(long)).toContain("frame-ancestors 'self';");
  const [entry = ""] = allowedOrigins;
  const asked = await fetch(`${server.url}/api/embed/${long}`, { headers: { origin: "https://shop.example" } });
  expect(asked.status).toBe(403);
  const { embedToken: mixed } = await server.createCompanion({ allowedOrigins: [entry, "https://shop.example"] });
  expect(await readPolicy(mixed)).toContain("frame-ancestors 'self' https://shop.example;");
});
