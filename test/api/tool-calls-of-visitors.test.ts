/** Calls of tools are a part of what was said: visitors see which there were, and all of it goes with their words. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Tool } from "../../src/domain/tool.ts";
import { eventually } from "../support/eventually.ts";
import { readStoredBytes } from "../support/stored-bytes.ts";
import { newCall, newTool } from "../support/stored-tool.ts";
import { testContext } from "../support/test-context.ts";
import { openVerifiedWorld, type VerifiedWorld } from "../support/verified-world.ts";

let world: VerifiedWorld;
let tool: Tool;
beforeAll(async () => {
  world = await openVerifiedWorld();
  tool = newTool(world.companion.id, Date.now(), { name: "find_order" });
  await world.server.services.store.tools.create(world.companion.accountId, tool, testContext());
});
afterAll(() => world.server.close());

const uuid = () => crypto.randomUUID();
const at = (sub: string) => `/api/companions/${world.companion.id}/visitors/${encodeURIComponent(sub)}`;

/** A message, and a call as its reply might have made one; resolves with the conversation's id. */
async function call(token: string | null, body: object, words: string) {
  const session_id = uuid();
  expect((await world.say(token, { message: "Where is it?", session_id, ...body })).isDone).toBe(true);
  const { store } = world.server.services;
  const { accountId, id: companionId } = world.companion;
  const query = { companionId, visitorId: null, fromMs: null, toMs: null, q: null };
  const listed = await store.conversations.list(accountId, query, { limit: 100, afterId: null });
  const conversation = listed.items.find(({ sessionId }) => sessionId === session_id) ?? expect.unreachable();
  const found = await store.conversations.find(accountId, conversation.id);
  const { sessionId, visitorId } = conversation;
  const reply = { key: { companionId, sessionId, visitorId }, replyId: found?.messages[1]?.id ?? "", messageId: null };
  const begun = newCall(tool, Date.now(), { arguments: JSON.stringify({ order: `sent ${words}` }) });
  await store.toolCalls.begin(reply, [begun]);
  await store.toolCalls.finish(begun.id, { state: "done", result: `answered ${words}`, durationMs: 5 });
  return { id: conversation.id, callId: begun.id, session_id };
}

const lastCalls = async () =>
  (await world.owner.call("GET", `/api/companions/${world.companion.id}/tools/${tool.id}/calls`)).json.data;

test("visitors read which tools were called for them and how that ended, and neither arguments nor results", async () => {
  const token = await world.sign("reader");
  const { id, callId } = await call(token, {}, "quietly");
  const own = await world.embed("GET", `/conversations/${id}`, token);
  const [question, reply] = own.json["messages"] as [object, object];
  expect(question).not.toHaveProperty("tool_calls");
  expect(reply).toMatchObject({ role: "assistant" });
  expect((reply as { tool_calls: unknown }).tool_calls).toEqual([
    { call_id: callId, tool: "find_order", state: "done", created_at: expect.stringMatching(/Z$/) },
  ]);
  expect(own.text).not.toContain("quietly");
});

test("erasing a visitor erases what tools were told and answered for them, and nobody else's", async () => {
  const other = await call(null, { visitor_id: uuid() }, "somebody else's");
  const sub = `customer/${uuid()}`;
  const words = `words-of-${uuid()}`;
  await call(await world.sign(sub), {}, words);
  expect(await readStoredBytes(world.server.dataDir)).toContain(words);
  expect((await world.owner.call("DELETE", at(sub))).status).toBe(204);
  expect(await readStoredBytes(world.server.dataDir)).not.toContain(words);
  const calls = await lastCalls();
  expect(JSON.stringify(calls)).not.toContain(words);
  expect(calls).toContainEqual(expect.objectContaining({ call_id: other.callId }));
});

test("deleting a conversation deletes what was called in it", async () => {
  const words = `words-of-${uuid()}`;
  const { id, callId } = await call(null, { visitor_id: uuid() }, words);
  expect(await lastCalls()).toContainEqual(expect.objectContaining({ call_id: callId, conversation_id: id }));
  expect((await world.owner.call("DELETE", `/api/conversations/${id}`)).status).toBe(204);
  expect(await lastCalls()).not.toContainEqual(expect.objectContaining({ call_id: callId }));
  await eventually(async () => !(await readStoredBytes(world.server.dataDir)).includes(words));
  expect(await readStoredBytes(world.server.dataDir)).not.toContain(words);
});

test("a conversation that a visitor takes over brings its calls along", async () => {
  const visitor_id = uuid();
  const { id, callId, session_id } = await call(null, { visitor_id }, "before");
  const token = await world.sign("taker");
  expect((await world.embed("POST", "/visitor/merge", token, { session_id, visitor_id })).status).toBe(204);
  const own = await world.embed("GET", `/conversations/${id}`, token);
  expect(own.text).toContain(callId);
  expect(await lastCalls()).toContainEqual(expect.objectContaining({ call_id: callId, conversation_id: id }));
  expect((await world.owner.call("DELETE", at("taker"))).status).toBe(204);
  expect(JSON.stringify(await lastCalls())).not.toContain(callId);
});
