/** Turns with tools of which something is refused on the way: what was called is kept, and no call exceeds what is held for it. */
import { expect, test } from "bun:test";
import type { JsonObject } from "../../src/domain/json.ts";
import { apiClient } from "../support/api-client.ts";
import { testContext } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import type { MockResponse } from "../support/mock-llm.ts";
import { openToolWorld, type ToolWorld } from "../support/tool-world.ts";

const day = () => new Date().toISOString().slice(0, 10);

async function transcriptOf({ server, companion }: ToolWorld, sessionId: string) {
  const { store } = server.services;
  const everything = { companionId: companion.id, visitorId: null, fromMs: null, toMs: null, q: null };
  const { items } = await store.conversations.list(companion.accountId, everything, { limit: 10, afterId: null });
  const conversation = items.find((one) => one.sessionId === sessionId);
  if (conversation === undefined) return null;
  const messages = (await store.conversations.find(companion.accountId, conversation.id))?.messages ?? [];
  const calls = await store.toolCalls.listOfReplies(messages.map(({ id }) => id));
  return messages.map(({ id, role, complete }) => ({
    ...{ role, complete },
    calls: (calls.get(id) ?? []).map(({ tool, state }) => [tool, state]),
  }));
}

/** Every call of the model costs a dollar for each byte that is sent, and little for what comes. */
const priced = {
  COMPANIOND_MODELS: "test-model",
  COMPANIOND_PRICES: JSON.stringify({ "test-model": { input: 1, output: 1 } }),
  COMPANIOND_MAX_OUTPUT_TOKENS: "20",
};

async function limitSpending({ server, companion }: ToolWorld, limitMicros: number) {
  const account = await server.services.store.accounts.findById(companion.accountId);
  if (account === null) throw new Error("there is no account");
  const api = apiClient(server.url, (await server.createKey(account)).key);
  const budget = { account: true, period: "day", action: "stop", limit_micros: limitMicros };
  expect((await api.call("POST", "/api/budgets", budget)).status).toBe(201);
}

test("where spending is stopped while a tool runs, the message is kept and counted, with what was called", async () => {
  await using world = await openToolWorld();
  await world.addTool();
  const { store } = world.server.services;
  world.answer(async () => {
    await store.spending.stop(world.companion.accountId, testContext());
    return Response.json({});
  });
  const sessionId = crypto.randomUUID();
  const read = await world.say("[[call:look_up {}]]", { session_id: sessionId });
  expect([read.status, read.isDone]).toEqual([200, false]);
  expect(read.raw).toEndWith(": error unavailable\n\n");
  expect(await transcriptOf(world, sessionId)).toEqual([
    { role: "user", complete: true, calls: [] },
    { role: "assistant", complete: false, calls: [["look_up", "done"]] },
  ]);
  expect(await store.turns.countDay(world.companion.id, day())).toBe(1);
  expect(world.server.mockLlm.requests).toHaveLength(1);
});

test("a provider that fails after calls that were not made has failed before its first text: 502, and nothing is kept", async () => {
  await using world = await openToolWorld();
  await world.addTool();
  let requests = 0;
  world.server.mockLlm.respond((_, response) => {
    requests++;
    return requests === 1 ? callNothing(response) : response.send(400, { "content-type": "application/json" }, "{}");
  });
  const sessionId = crypto.randomUUID();
  expect((await world.say("Hello", { session_id: sessionId })).status).toBe(502);
  expect(await transcriptOf(world, sessionId)).toBeNull();
  expect(world.calls).toEqual([]);
});

test("the calls of an earlier reply go to the model under names that every provider takes", async () => {
  await using world = await openToolWorld();
  await world.addTool();
  await world.addTool({ name: "book", confirm: true });
  const ids = { session_id: crypto.randomUUID() };
  const asked = await world.say("[[call:look_up {}]][[call:book {}]]", ids);
  await world.decide(String(asked.events.at(-1)?.data.call_id), true, ids);
  const messages = world.server.mockLlm.requests.at(-1)?.body.messages as JsonObject[];
  const answer = messages.findLast(({ role }) => role === "assistant");
  const named = ((answer?.tool_calls ?? []) as { id: string }[]).map(({ id }) => id);
  expect(named).toEqual([expect.stringMatching(/^[A-Za-z0-9]{9}$/), expect.stringMatching(/^[A-Za-z0-9]{9}$/)]);
  expect(new Set(named).size).toBe(2);
  expect(messages.flatMap(({ role, tool_call_id: id }) => (role === "tool" ? [id] : []))).toEqual(named);
});

test("with sources, too, a question to the visitor ends the stream, and markers invented after the decision are removed", async () => {
  await using world = await openToolWorld();
  const { companion, server } = world;
  const account = await server.services.store.accounts.findById(companion.accountId);
  if (account === null) throw new Error("there is no account");
  const api = apiClient(server.url, (await server.createKey(account)).key);
  const source = { type: "text", title: "Tables", text: "Tables are booked by telephone." };
  const { id } = (await api.call("POST", `/api/companions/${companion.id}/sources`, source)).json;
  const path = `/api/companions/${companion.id}/sources/${id}`;
  await eventually(async () => (await api.call("GET", path)).json["status"] === "ready", { what: "the source" });
  await world.addTool({ name: "book", confirm: true });
  world.answer(() => new Response("booked [1] well"));
  const ids = { session_id: crypto.randomUUID() };
  const message = { ...ids, message_id: crypto.randomUUID() };
  const asked = await world.say("Which tables? [[call:book {}]]", message);
  expect(asked.events.map(({ name }) => name)).toEqual(["confirm"]);
  expect((await world.say("Which tables? [[call:book {}]]", message)).events).toEqual(asked.events);
  const decided = await world.decide(String(asked.events.at(-1)?.data.call_id), true, ids);
  expect(decided.isDone).toBe(true);
  expect(decided.text).toContain("booked");
  expect(decided.text).not.toContain("[1]");
});

async function callNothing(response: MockResponse): Promise<void> {
  const call = { index: 0, id: "call_1", type: "function", function: { name: "nothing", arguments: "{}" } };
  const chunk = { choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: "tool_calls" }] };
  const type = { "content-type": "text/event-stream" };
  await response.send(200, type, `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
}

test("tools are part of what is held before the first call", async () => {
  await using world = await openToolWorld({ environment: priced });
  await world.addTool({ target: { description: "x".repeat(1_000) } });
  await limitSpending(world, 1_000);
  expect((await world.say("Hello")).status).toBe(429);
  expect(world.server.mockLlm.requests).toEqual([]);
});

test("results are part of what is held before the next call", async () => {
  await using world = await openToolWorld({ environment: priced });
  await world.addTool();
  world.answer(() => new Response("x".repeat(10_000)));
  await limitSpending(world, 5_000);
  const read = await world.say("[[call:look_up {}]]");
  expect(read.events.map(({ data }) => data.state)).toEqual(["running", "done"]);
  expect(read.raw).toEndWith(": error unavailable\n\n");
  expect(world.server.mockLlm.requests).toHaveLength(1);
});

test("the result of a call that the visitor decided on is part of what is held before the model is asked", async () => {
  await using world = await openToolWorld({ environment: priced });
  await world.addTool({ name: "book", confirm: true });
  world.answer(() => new Response("x".repeat(10_000)));
  await limitSpending(world, 5_000);
  const ids = { session_id: crypto.randomUUID() };
  const asked = await world.say("[[call:book {}]]", ids);
  const decided = await world.decide(String(asked.events[0]?.data.call_id), true, ids);
  expect(decided.events.map(({ data }) => data.state)).toEqual(["running", "done"]);
  expect(decided.raw).toEndWith(": error unavailable\n\n");
  expect(world.server.mockLlm.requests).toHaveLength(1);
  expect(await transcriptOf(world, ids.session_id)).toMatchObject([
    { role: "user" },
    { role: "assistant", complete: true, calls: [["book", "done"]] },
    { role: "assistant", complete: false },
  ]);
});

test("a decision takes nothing of the month's tokens that messages are refused by", async () => {
  await using world = await openToolWorld({}, { monthlyTokens: 10 });
  await world.addTool({ name: "book", confirm: true });
  const ids = { session_id: crypto.randomUUID() };
  const asked = await world.say("[[call:book {}]]", ids);
  expect((await world.say("Hello", ids)).status).toBe(429);
  const decided = await world.decide(String(asked.events[0]?.data.call_id), true, ids);
  expect([decided.status, decided.isDone]).toEqual([200, true]);
  expect(world.calls).toHaveLength(1);
});

test("a visitor who leaves after a decision ends the waiting: the conversation goes on while the call runs", async () => {
  await using world = await openToolWorld();
  await world.addTool({ name: "book", confirm: true });
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  world.answer(async () => {
    arrived.resolve();
    await release.promise;
    return Response.json({});
  });
  const ids = { session_id: crypto.randomUUID() };
  const asked = await world.say("[[call:book {}]]", ids);
  const leaving = new AbortController();
  const url = `${world.server.url}/api/embed/${world.companion.embedToken}/confirmations/${asked.events[0]?.data.call_id}`;
  const deciding = fetch(url, {
    ...{ method: "POST", headers: { "content-type": "application/json" }, signal: leaving.signal },
    body: JSON.stringify({ approve: true, ...ids }),
  });
  await arrived.promise;
  await deciding;
  leaving.abort();
  expect((await world.say("Hello", ids)).isDone).toBe(true);
  expect((await transcriptOf(world, ids.session_id))?.[1]?.calls).toEqual([["book", "running"]]);
  // As it is after a server was killed meanwhile.
  const again = await world.decide(String(asked.events[0]?.data.call_id), true, ids);
  expect([again.status, again.isDone]).toEqual([200, true]);
  expect(again.text).toContain("is not sent again");
  expect(world.calls).toHaveLength(1);
  release.resolve();
  await eventually(async () => (await transcriptOf(world, ids.session_id))?.[1]?.calls[0]?.[1] === "done");
});

test("a decision on a call that its tool no longer takes is told to the model, and sent to nobody", async () => {
  await using world = await openToolWorld();
  const { companion, server } = world;
  const tool = await world.addTool({ name: "book", confirm: true });
  const ids = { session_id: crypto.randomUUID() };
  const change = (fields: object) =>
    server.services.store.tools.update(companion.accountId, companion.id, tool.id, () => fields, testContext());
  const parameters = { type: "object", properties: { city: { type: "string", maxLength: 3 } } };
  for (const fields of [{ target: { ...tool.target, parameters } }, { target: tool.target, requiresVisitor: true }]) {
    const asked = await world.say('[[call:book {"city":"Oslo"}]]', ids);
    await change(fields);
    const decided = await world.decide(String(asked.events[0]?.data.call_id), true, ids);
    expect(decided.text).toContain("Nothing was called");
    await change({ target: tool.target, requiresVisitor: false });
  }
  expect(world.calls).toEqual([]);
});

test("a call that runs when the server stops ends before its storage does, and is kept", async () => {
  await using world = await openToolWorld();
  await world.addTool();
  const { server } = world;
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  world.answer(async () => {
    arrived.resolve();
    await release.promise;
    return Response.json({});
  });
  const leaving = new AbortController();
  const sent = fetch(`${server.url}/api/embed/${world.companion.embedToken}/chat`, {
    ...{ method: "POST", headers: { "content-type": "application/json" }, signal: leaving.signal },
    body: JSON.stringify({ message: "[[call:look_up {}]]", events: true }),
  });
  await arrived.promise;
  await sent;
  leaving.abort();
  await server.services.openTurns.whenEnded();
  const { toolCalls } = server.services.store;
  const kept = Promise.withResolvers<string>();
  const { finish } = toolCalls;
  toolCalls.finish = async (id, end) => {
    await finish(id, end);
    kept.resolve(end.state);
  };
  const closing = server.services.toolbox.close();
  release.resolve();
  await closing;
  expect(await Promise.race([kept.promise, Promise.resolve("not kept")])).toBe("done");
});

test("nothing is called for a reply that is stopped while its calls are being kept", async () => {
  await using world = await openToolWorld();
  await world.addTool();
  const { replies, store } = world.server.services;
  const { begin } = store.toolCalls;
  Object.assign(store.toolCalls, {
    async begin(...given: Parameters<typeof begin>) {
      replies.stopAll();
      await begin(...given);
    },
  });
  const named = { session_id: crypto.randomUUID(), message_id: crypto.randomUUID() };
  expect((await world.say("[[call:look_up {}]]", named)).isDone).toBe(false);
  await eventually(async () => (await transcriptOf(world, named.session_id)) !== null);
  expect(world.calls).toEqual([]);
  expect(await transcriptOf(world, named.session_id)).toMatchObject([
    { role: "user" },
    { role: "assistant", complete: false, calls: [["look_up", "failed"]] },
  ]);
});
