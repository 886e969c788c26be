/**
 * Loaded before every test file: a test without an expectation fails, and so does a run with an unhandled rejection or
 * exception. Every response of our own server is checked against the API document.
 */
import { afterAll, beforeEach, expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { endAll } from "./at-end.ts";

if (
  ["assets.ts", "guides/index.ts"].some((file) => !existsSync(join(import.meta.dir, "../../src/web/generated", file)))
) {
  console.error("The browser bundles are not built. `bun run build` prepares everything; then `bun test` works.");
  process.exit(1);
}

beforeEach(() => expect.hasAssertions());
afterAll(endAll);

if (process.env["COMPANIOND_TEST_ENGINE"] === "postgres") {
  const { startTestServers } = await import("./test-servers.ts");
  // Kept for the whole process: PostgreSQL ends with the last reference.
  Object.assign(globalThis, { companiondTestServers: await startTestServers() });
}

process.on("unhandledRejection", (reason) => {
  console.error("unhandled rejection in a test:", reason);
  process.exitCode = 1;
});

const plainFetch = globalThis.fetch;

async function watchedFetch(input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
  const response = await plainFetch(input, init);
  // Only our server sends these together; the document does not describe mock providers and other sites.
  const isOurs = response.headers.has("x-request-id") && response.headers.get("x-content-type-options") === "nosniff";
  if (isOurs) {
    const { checkConformance } = await import("./conformance.ts");
    const method = init?.method ?? (input instanceof Request ? input.method : "GET");
    await checkConformance(method.toUpperCase(), response.url, response);
  }
  return response;
}

globalThis.fetch = Object.assign(watchedFetch, { preconnect: plainFetch.preconnect });
