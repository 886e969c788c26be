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
