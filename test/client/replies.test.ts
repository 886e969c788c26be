/** The client for servers as a reader of replies. */
import { expect, test } from "bun:test";
import { Companiond, CompaniondError, type Reply } from "../../src/client/index.ts";
import { type ChatOptions, testReplyClient } from "../contracts/reply-client.ts";
import { createReplyServer, refuse } from "../support/reply-server.ts";

function tell(reply: Reply, { onSources, onTool, onConfirm }: ChatOptions): void {
  if (reply.sources) onSources?.(reply.sources);
  for (const call of reply.calls) onTool?.(call);
  if (reply.confirmation) onConfirm?.(reply.confirmation);
}

testReplyClient("the client for servers", ({ fetch }, { hasWaits = false } = {}) => {
  const sleep = hasWaits ? undefined : async () => {};
  const client = new Companiond({ baseUrl: "http://server.invalid", apiKey: "cmp_live_x", fetch, sleep });
  return {
    async *chat(message, { signal, ...listeners } = {}) {
      const events = Object.keys(listeners).length > 0 ? true : undefined;
      const reply = client.companions.chat("c", { message, events }, { signal });
      yield* reply;
      tell(reply, listeners);
    },
    async *confirm(callId, approve, { signal, ...listeners } = {}) {
      const decision = { approve, session_id: crypto.randomUUID() };
      const reply = client.companions.confirm("c", callId, decision, { signal });
      yield* reply;
      tell(reply, listeners);
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
