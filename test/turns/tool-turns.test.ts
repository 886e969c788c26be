/** Turns whose model calls tools over HTTP: what is sent, told, kept and counted (contract-2, section 5). */
import { expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { confirmableMs, maxCallsPerTurn, maxRounds, maxRoundsMs } from "../../src/domain/tool.ts";
import { testContext } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { openToolWorld, secretOfTools, type ToolWorld } from "../support/tool-world.ts";

async function transcriptOf({ server, companion }: ToolWorld, sessionId: string, visitorId: string | null = null) {
  const { store } = server.services;
  const { items } = await store.conversations.list(
    companion.accountId,
    { companionId: companion.id, visitorId, fromMs: null, toMs: null, q: null },
    { limit: 10, afterId: null },
  );
  const conversation = items.find((one) => one.sessionId === sessionId);
  if (conversation === undefined) return null;
  const found = await store.conversations.find(companion.accountId, conversation.id);
  const messages = found?.messages ?? [];
  const calls = await store.toolCalls.listOfReplies(messages.map(({ id }) => id));
  return messages.map(({ id, role, parts, complete }) => ({
    ...{ role, text: parts.map(({ text }) => text).join(""), complete },
    calls: (calls.get(id) ?? []).map(({ tool, state, result, arguments: given }) => ({ tool, state, result, given })),
  }));
}

test("a call reaches the owner's server signed, with what it is about, and its result reaches the model", async () => {
  await using world = await openToolWorld({}, { metadata: { tenant: "acme" } });
  const { companion, calls, server } = world;
  await world.addTool();
  world.answer(() => Response.json({ weather: "rain" }));
  const sessionId = crypto.randomUUID();
  const read = await world.say('[[call:look_up {"city":"Oslo"}]]', { session_id: sessionId });

  expect(read).toMatchObject({ status: 200, isDone: true, text: 'The tools said: {"weather":"rain"}' });
  const [call] = calls;
  expect(read.events).toEqual([
    { name: "tool", data: { call_id: call?.id ?? "", name: "look_up", state: "running" } },
    { name: "tool", data: { call_id: call?.id ?? "", name: "look_up", state: "done" } },
  ]);
  expect(calls).toHaveLength(1);
  expect(new Webhook(secretOfTools).verify(call?.raw ?? "", Object.fromEntries(call?.headers ?? []))).toEqual({
    type: "tool.call",
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    data: {
      tool: "look_up",
      arguments: { city: "Oslo" },
      call_id: call?.id,
      companion: { id: companion.id, metadata: { tenant: "acme" } },
      session_id: sessionId,
      visitor: { sub: null, verified: false, attributes: {} },
    },
  });
  expect(await transcriptOf(world, sessionId)).toEqual([
    { role: "user", text: '[[call:look_up {"city":"Oslo"}]]', complete: true, calls: [] },
    {
      ...{ role: "assistant", text: 'The tools said: {"weather":"rain"}', complete: true },
      calls: [{ tool: "look_up", state: "done", result: '{"weather":"rain"}', given: '{"city":"Oslo"}' }],
    },
  ]);
  // One message, the tokens of both requests.
  const usage = await server.services.store.turns.countDay(companion.id, new Date().toISOString().slice(0, 10));
  expect(usage).toBe(1);
  expect(server.mockLlm.requests).toHaveLength(2);
});

test("without events the stream is exactly the spec's", async () => {
  await using world = await openToolWorld();
  await world.addTool();
  const read = await world.say("[[call:look_up {}]][[say:Done.]]", { events: false });
  expect(read.raw).toBe('data: {"text":"Done."}\n\ndata: [DONE]\n\n');
});

test("what a model says before its calls stands apart from what it says afterwards", async () => {
  await using world = await openToolWorld();
  await world.addTool();
  const read = await world.say("[[before:Let me see.]][[call:look_up {}]][[say:Here you are.]]");
  expect(read.text).toBe("Let me see.\n\nHere you are.");
});

test("a tool that fails is one plain sentence for the model, and the reply goes on", async () => {
  await using world = await openToolWorld();
  await world.addTool();
  world.answer(() => new Response("secret trouble at 10.0.0.7", { status: 500 }));
  const read = await world.say("[[call:look_up {}]]");
  expect(read.isDone).toBe(true);
  expect(read.text).not.toContain("secret");
  expect(read.text).toStartWith("The tools said: ");
  expect(read.events.map(({ data }) => data.state)).toEqual(["running", "failed"]);
});

test("arguments that are at fault, and tools that are not there, are told to the model and sent to nobody", async () => {
  await using world = await openToolWorld();
  await world.addTool({
    target: { parameters: { type: "object", required: ["city"], properties: { city: { type: "string" } } } },
  });
  for (const call of ['look_up {"city":7}', "look_up {}", "look_up {city", "look_elsewhere {}"]) {
    const read = await world.say(`[[call:${call}]]`);
    expect(read.isDone).toBe(true);
    expect(read.events).toEqual([]);
    expect(read.text).toMatch(/nothing was called|Nothing was called|no tool with that name/);
  }
  expect(world.calls).toEqual([]);
});

test("after five rounds the model is asked once more without tools; of more than eight calls the rest is not made", async () => {
  await using world = await openToolWorld();
  await world.addTool();
  const read = await world.say("[[call:look_up {}]][[call:look_up {}]][[rounds:9]]");
  expect(read.isDone).toBe(true);
  expect(world.calls).toHaveLength(maxCallsPerTurn);
  const { requests } = world.server.mockLlm;
  expect(requests).toHaveLength(maxRounds + 1);
  expect(requests.map(({ body }) => Array.isArray(body.tools) && body.tools.length > 0)).toEqual([
    ...Array.from({ length: maxRounds }, () => true),
    false,
  ]);
});

test("after five minutes of rounds the model is asked once more, without tools", async () => {
  const clock = createManualClock();
  await using world = await openToolWorld({ clock });
  await world.addTool();
  world.answer(() => {
    clock.advance(maxRoundsMs);
    return Response.json({});
  });
  const read = await world.say("[[call:look_up {}]][[rounds:4]]");
  expect(read.isDone).toBe(true);
  expect(world.calls).toHaveLength(1);
  expect(world.server.mockLlm.requests.map(({ body }) => body.tools === undefined)).toEqual([false, true]);
});

test("a call waits ten minutes for its visitor, and no longer", async () => {
  const clock = createManualClock();
  await using world = await openToolWorld({ clock });
  await world.addTool({ name: "book", confirm: true });
  const ids = { session_id: crypto.randomUUID() };
  const ask = async () => String((await world.say("[[call:book {}]]", ids)).events[0]?.data.call_id);
  const [early, late] = [await ask(), await ask()];
  clock.advance(confirmableMs);
  expect((await world.decide(early, true, ids)).status).toBe(200);
  clock.advance(1);
  expect((await world.decide(late, true, ids)).status).toBe(409);
  expect(world.calls.map(({ id }) => id)).toEqual([early]);
});

test("a call to decide on is gone with its tool", async () => {
  await using world = await openToolWorld();
  const { server, companion } = world;
  const tool = await world.addTool({ name: "book", confirm: true });
  const ids = { session_id: crypto.randomUUID() };
  const asked = await world.say("[[call:book {}]]", ids);
  await server.services.store.tools.delete(companion.accountId, companion.id, tool.id, testContext());
  expect((await world.decide(String(asked.events[0]?.data.call_id), true, ids)).status).toBe(404);
  expect(world.calls).toEqual([]);
});

test("once a tool was called, the message is kept and counted, also where the provider then fails", async () => {
  await using world = await openToolWorld();
  await world.addTool();
  const { mockLlm, services } = world.server;
  const sessionId = crypto.randomUUID();
  let requests = 0;
  mockLlm.respond((_, response) => {
    requests++;
    if (requests > 1) return response.send(400, { "content-type": "application/json" }, '{"error":{"message":"no"}}');
    const call = { index: 0, id: "call_1", type: "function", function: { name: "look_up", arguments: "{}" } };
    const chunk = { choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: "tool_calls" }] };
    return response.send(
      200,
      { "content-type": "text/event-stream" },
      `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`,
    );
  });
  const read = await world.say("Look it up", { session_id: sessionId });
  expect(read).toMatchObject({ status: 200, isDone: false });
  expect(read.raw).toEndWith(": error upstream_error\n\n");
  expect(await transcriptOf(world, sessionId)).toMatchObject([
    { role: "user", text: "Look it up" },
    { role: "assistant", text: "", complete: false, calls: [{ state: "done" }] },
  ]);
  expect(await services.store.turns.countDay(world.companion.id, new Date().toISOString().slice(0, 10))).toBe(1);
});

test("a visitor who leaves ends the waiting, not a call that was sent", async () => {
  await using world = await openToolWorld();
  await world.addTool();
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  world.answer(async () => {
    arrived.resolve();
    await release.promise;
    return Response.json({ done: true });
  });
  const sessionId = crypto.randomUUID();
  const leaving = new AbortController();
  const { url } = world.server;
  const body = JSON.stringify({ message: "[[call:look_up {}]]", session_id: sessionId, events: true });
  const sent = fetch(`${url}/api/embed/${world.companion.embedToken}/chat`, {
    ...{ method: "POST", headers: { "content-type": "application/json" }, body, signal: leaving.signal },
  });
  await arrived.promise;
  await sent;
  leaving.abort();
  // The turn is over, and kept, while the call is still under way.
  await eventually(async () => (await transcriptOf(world, sessionId))?.[1]?.calls[0]?.state === "running");
  release.resolve();
  await eventually(async () => (await transcriptOf(world, sessionId))?.[1]?.calls[0]?.state === "done");
  expect(await transcriptOf(world, sessionId)).toMatchObject([
    { role: "user" },
    { role: "assistant", text: "", complete: false, calls: [{ state: "done", result: '{"done":true}' }] },
  ]);
  expect(world.calls).toHaveLength(1);
});

test("a tool with confirm ends the stream with a question, and a decision runs it once", async () => {
  await using world = await openToolWorld();
  await world.addTool({ name: "book", title: "Book a table", confirm: true });
  world.answer(() => Response.json({ booked: 7 }));
  const [sessionId, visitorId] = [crypto.randomUUID(), crypto.randomUUID()];
  const ids = { session_id: sessionId, visitor_id: visitorId };
  const asked = await world.say('[[call:book {"city":"Oslo"}]]', ids);
  expect(asked).toMatchObject({ isDone: true, text: "" });
  expect(asked.events).toEqual([
    {
      name: "confirm",
      data: { call_id: expect.any(String), tool: "book", title: "Book a table", arguments: { city: "Oslo" } },
    },
  ]);
  expect(world.calls).toEqual([]);
  const callId = String(asked.events[0]?.data.call_id);

  // Another visitor's, another conversation's, and one that never was are the same.
  for (const others of [
    { ...ids, visitor_id: crypto.randomUUID() },
    { ...ids, session_id: crypto.randomUUID() },
  ]) {
    expect((await world.decide(callId, true, others)).status).toBe(404);
  }
  expect((await world.decide(crypto.randomUUID(), true, ids)).status).toBe(404);
  expect((await world.decide("nothing", true, ids)).status).toBe(404);

  const decided = await world.decide(callId, true, ids);
  expect(decided).toMatchObject({ status: 200, isDone: true });
  expect(decided.text).toContain('{"booked":7}');
  expect(decided.events.map(({ name, data }) => [name, data.call_id, data.state])).toEqual([
    ["tool", callId, "running"],
    ["tool", callId, "done"],
  ]);
  expect(world.calls.map(({ id }) => id)).toEqual([callId]);
  expect((await world.decide(callId, true, ids)).status).toBe(409);
  expect(world.calls).toHaveLength(1);
  expect(await transcriptOf(world, sessionId, visitorId)).toMatchObject([
    { role: "user", calls: [] },
    { role: "assistant", text: "", complete: true, calls: [{ tool: "book", state: "done" }] },
    { role: "assistant", complete: true, calls: [] },
  ]);
  const { store } = world.server.services;
  expect(await store.turns.countDay(world.companion.id, new Date().toISOString().slice(0, 10))).toBe(1);
});

test("a call that is not wanted is not made, and the model is told", async () => {
  await using world = await openToolWorld();
  await world.addTool({ name: "book", confirm: true });
  const ids = { session_id: crypto.randomUUID(), visitor_id: crypto.randomUUID() };
  const asked = await world.say("[[call:book {}]]", ids);
  const decided = await world.decide(String(asked.events[0]?.data.call_id), false, ids);
  expect(decided).toMatchObject({ status: 200, isDone: true });
  expect(decided.text).toContain("does not want");
  expect(world.calls).toEqual([]);
});

test("tools that ask the visitor are offered only to streams with events, those for known visitors to those alone", async () => {
  await using world = await openToolWorld();
  await world.addTool({ name: "book", confirm: true });
  await world.addTool({ name: "orders", requiresVisitor: true });
  const { requests } = world.server.mockLlm;
  await world.say("Hello", { events: false });
  expect(requests.at(-1)?.body.tools).toBeUndefined();
  await world.say("Hello");
  expect(requests.at(-1)?.body.tools).toHaveLength(1);
});
