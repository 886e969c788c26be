/**
 * Replies that never come to an end, and readers who take nothing of them: what is held is bounded, and what was said
 * is kept.
 */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";

import { maxReplyUnits, ownBytes, sharedBytes } from "../../src/core/turns/reply-memory.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { chat } from "../support/chat.ts";
import { chunk } from "../support/mock-llm-replies.ts";
import { chatRequest, connectRaw } from "../support/raw-visitor.ts";
import { withText } from "../support/turn-messages.ts";

let server: TestServer;
let companion: { id: string; accountId: string; embedToken: string };
beforeAll(async () => {
  server = await startTestServer();
  companion = await server.createCompanion();
});
afterEach(() => server.mockLlm.respond(null));
afterAll(() => server.close());

function speakWithoutEnd(text: string): void {
  server.mockLlm.respond(async (_, response) => {
    while (!response.isClosed) await response.write(chunk({ content: text }));
  });
}

async function keptReply() {
  await server.services.openTurns.whenEnded();
  const { conversations } = server.services.store;
  const query = { companionId: companion.id, visitorId: null, fromMs: null, toMs: null, q: null };
  const [newest] = (await conversations.list(companion.accountId, query, { limit: 1, afterId: null })).items;
  const kept = (await conversations.find(companion.accountId, newest?.id ?? ""))?.messages.at(-1);
  return kept && withText(kept);
}

test.each([
  ["in the middle of a text", "round and ".repeat(500)],
  ["between two", "x".repeat(4096)],
])(
  "a reply without end is ended after a million characters, %s, says why, and is kept as incomplete",
  async (_, text) => {
    speakWithoutEnd(text);
    const response = await chat(server.url, companion.embedToken, { message: "go on for ever" });
    expect(response.raw).toEndWith("\n\n: error too_long\n\n");
    expect(response.text).toHaveLength(maxReplyUnits);
    expect(response.texts).not.toContain("");
    await server.mockLlm.until(() => server.mockLlm.openRequests === 0);
    expect(await keptReply()).toMatchObject({ role: "assistant", text: response.text, complete: false });
    expect(server.services.replyMemory.held).toBe(0);
  },
);

test("its end cuts no character in two", async () => {
  // Of 501 code units each, 484 of the last are left: half of a pair.
  speakWithoutEnd(`x${"😀".repeat(250)}`);
  const { text } = await chat(server.url, companion.embedToken, { message: "go on for ever" });
  expect(text).toEndWith("😀�");
  expect((await keptReply())?.text).toBe(text);
});

const named = () => ({ session_id: crypto.randomUUID(), message_id: crypto.randomUUID(), resume: true });

test.each([
  ["who takes nothing", () => ({})],
  ["who takes nothing and can come back", named],
])("a reader %s is given up where no memory is left for him, and others are answered meanwhile", async (_, fields) => {
  const elsewhere = server.services.replyMemory.open();
  expect(elsewhere.growTo(ownBytes + sharedBytes)).toBe(true);
  expect(elsewhere.held).toBe(sharedBytes);
  const { abortedRequests } = server.mockLlm;
  speakWithoutEnd("\u0001".repeat(1_000));
  const visitor = await connectRaw(server.url);
  visitor.pause();
  visitor.write(chatRequest(companion.embedToken, { message: "never read", ...fields() }));
  await server.mockLlm.until(() => server.mockLlm.abortedRequests > abortedRequests);
  await server.mockLlm.until(() => server.mockLlm.openRequests === 0);
  const kept = await keptReply();
  expect(kept).toMatchObject({ role: "assistant", complete: false });
  // His own, two bytes a character, and what one part of a read brought on top. Before the stream is open, what he is to
  // be sent waits as well, and each of these characters takes six there.
  expect(kept?.text.length).toBeGreaterThan(ownBytes / 2 / 8);
  expect(kept?.text.length).toBeLessThanOrEqual(ownBytes / 2 + 16 * 1024);
  server.mockLlm.respond(null);
  expect((await chat(server.url, companion.embedToken, { message: "hello" })).isDone).toBe(true);
  elsewhere.release();
  expect(server.services.replyMemory.held).toBe(0);
  visitor.vanish();
});
