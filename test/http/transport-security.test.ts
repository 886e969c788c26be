/** `Strict-Transport-Security`: on everything that the server itself answers over TLS, and nowhere else. */
import { expect, test } from "bun:test";
import { startTestServer } from "../support/app.ts";

const insecure = { tls: { rejectUnauthorized: false } };

async function ask(isTls: boolean): Promise<(string | null)[]> {
  const server = await startTestServer({ isTls });
  const { embedToken } = await server.createCompanion();
  const paths = ["/healthz", "/app", `/api/embed/${embedToken}`, "/api/embed/none", "/api/companions", "/nope"];
  const responses = await Promise.all(paths.map((path) => fetch(`${server.url}${path}`, insecure)));
  expect(responses.map((response) => response.status)).toEqual([200, 200, 200, 404, 401, 404]);
  await server.close();
  return responses.map((response) => response.headers.get("strict-transport-security"));
}

test("every response over the server's own TLS tells browsers to keep using TLS", async () => {
  expect(await ask(true)).toEqual(Array(6).fill("max-age=31536000"));
});

test("no response over plain HTTP does", async () => {
  expect(await ask(false)).toEqual(Array(6).fill(null));
});
