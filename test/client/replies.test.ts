/** The client for servers as a reader of replies. */
import { expect, test } from "bun:test";
import { Companiond, CompaniondError } from "../../src/client/index.ts";
import { testReplyClient } from "../contracts/reply-client.ts";
import { createReplyServer, refuse } from "../support/reply-server.ts";

testReplyClient("the client for servers", ({ fetch }, { hasWaits = false } = {}) => {
  const sleep = hasWaits ? undefined : async () => {};
  const client = new Companiond({ baseUrl: "http://server.invalid", apiKey: "cmp_live_x", fetch, sleep });
  return {
    async *chat(message, { signal, onSources } = {}) {
      const events = onSources && true;
      const reply = client.companions.chat("c", { message, events }, { signal });
      yield* reply;
      if (reply.sources) onSources?.(reply.sources);
    },
  };
});

test("a reply waits for reconnecting no longer than its client is told to, and fails with the client's own errors", async () => {
  const server = createReplyServer(["one ", "two"]);
  const later = () => refuse(503, "unavailable", { "Retry-After": "3" });
  server.fate = (_, index) => (index === 0 ? { cutAt: 40, by: "end" } : later());
  const options = {
    baseUrl: "http://server.invalid",
    apiKey: "cmp_live_x",
    maxRetryWaitMs: 2000,
    sleep: async () => {},
  };
  const reply = new Companiond({ ...options, fetch: server.fetch }).companions.chat("c", { message: "hi" });
  const error = await reply.text().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CompaniondError);
  expect(error).toMatchObject({ name: "CompaniondError", code: "incomplete", retryAfterSeconds: 3, problem: null });
  const cause = { code: "unavailable", message: "A sentence.", errors: [], problem: { detail: "A sentence." } };
  expect(error).toHaveProperty("cause", expect.any(CompaniondError));
  expect(error).toMatchObject({ cause });
});
