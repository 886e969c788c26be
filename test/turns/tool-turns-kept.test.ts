/** What is kept of calls of tools, for clients that come back and for servers that stop (contract-2, sections 1 and 5). */
import { expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { openToolWorld, readEvents, type ToolWorld } from "../support/tool-world.ts";

function follow({ server, companion }: ToolWorld, messageId: string, query: Record<string, string>) {
  const url = `${server.url}/api/embed/${companion.embedToken}/chat/${messageId}?${new URLSearchParams(query)}`;
  return fetch(url).then(readEvents);
}

test("a repeated message gets the same reply and the same events, and calls nothing again", async () => {
  await using world = await openToolWorld();
  await world.addTool();
  const ids = { session_id: crypto.randomUUID(), message_id: crypto.randomUUID() };
  const first = await world.say("[[before:A moment.]][[call:look_up {}]]", ids);
  const again = await world.say("[[before:A moment.]][[call:look_up {}]]", ids);
  expect(again.text).toBe(first.text);
  expect(again.isDone).toBe(true);
  expect(again.events).toEqual(first.events.filter(({ data }) => data.state === "done"));
  expect(world.calls).toHaveLength(1);
  expect(world.server.mockLlm.requests).toHaveLength(2);
});

test("a client that comes back while a tool runs gets what it missed, in its place, once", async () => {
  await using world = await openToolWorld();
  await world.addTool();
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  world.answer(async () => {
    arrived.resolve();
    await release.promise;
    return Response.json({ ok: 1 });
  });
  const [sessionId, messageId] = [crypto.randomUUID(), crypto.randomUUID()];
  const sent = world.say("[[before:A moment.]][[call:look_up {}]][[say:Here.]]", {
    ...{ session_id: sessionId, message_id: messageId, resume: true },
  });
  await arrived.promise;
  const fromStart = follow(world, messageId, { session_id: sessionId, events: "true" });
  const fromText = follow(world, messageId, { session_id: sessionId, events: "true", offset: "9" });
  const plain = follow(world, messageId, { session_id: sessionId, offset: "2" });
  release.resolve();
  const first = await sent;
  expect(first.text).toBe("A moment.\n\nHere.");
  expect(await fromStart).toMatchObject({ text: first.text, events: first.events, isDone: true });
  expect((await fromText).text).toBe("\n\nHere.");
  expect((await plain).text).toBe("moment.\n\nHere.");
  expect((await plain).events).toEqual([]);
  expect(world.calls).toHaveLength(1);
});

test("a stored reply that waits for its visitor asks again, until it was decided", async () => {
  await using world = await openToolWorld();
  await world.addTool({ name: "book", title: "Book", confirm: true });
  const ids = { session_id: crypto.randomUUID(), message_id: crypto.randomUUID() };
  const asked = await world.say("[[call:book {}]]", ids);
  const again = await world.say("[[call:book {}]]", ids);
  expect(again.events).toEqual(asked.events);
  const query = { session_id: ids.session_id, events: "true" };
  expect((await follow(world, ids.message_id, query)).events).toEqual(asked.events);
  await world.decide(String(asked.events[0]?.data.call_id), true, { session_id: ids.session_id });
  const decided = await world.say("[[call:book {}]]", ids);
  expect(decided.events.map(({ name, data }) => [name, data.state])).toEqual([["tool", "done"]]);
  expect(world.calls).toHaveLength(1);
});

test("what a server had begun to call when it stopped is not called again: the message is kept, without its reply", async () => {
  await using world = await openToolWorld();
  const { id: toolId } = await world.addTool();
  const { server, companion } = world;
  const { store, ids } = server.services;
  const [sessionId, messageId] = [crypto.randomUUID(), crypto.randomUUID()];
  const key = { companionId: companion.id, sessionId, visitorId: null };
  const call = { id: ids.uuid(), toolId, tool: "look_up", arguments: "{}", result: null, durationMs: null };
  await store.toolCalls.begin({ key, replyId: ids.uuid(), messageId }, [
    { ...call, state: "running", createdAt: Date.now() },
  ]);
  const named = { session_id: sessionId, message_id: messageId };
  const read = await world.say("[[call:look_up {}]]", named);
  expect([read.status, read.isDone]).toEqual([503, false]);
  expect([world.calls.length, server.mockLlm.requests.length]).toEqual([0, 0]);
  // The refusal does not wait for it.
  await eventually(async () => (await store.turns.findExchange(key, messageId)) !== null);
  const exchange = await store.turns.findExchange(key, messageId);
  expect(exchange).toMatchObject({ question: "[[call:look_up {}]]", reply: "", isComplete: false });
  expect((await store.toolCalls.listOfReplies([exchange?.replyId ?? ""])).size).toBe(1);
  // And it stays so.
  expect((await world.say("[[call:look_up {}]]", named)).raw).toEndWith(": error unavailable\n\n");
  expect(server.mockLlm.requests).toHaveLength(0);
});

test("another conversation's turn goes on while a tool runs, the same conversation's waits", async () => {
  await using world = await openToolWorld();
  await world.addTool();
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  world.answer(async () => {
    arrived.resolve();
    await release.promise;
    return Response.json({});
  });
  const sessionId = crypto.randomUUID();
  const first = world.say("[[call:look_up {}]][[say:one]]", { session_id: sessionId });
  await arrived.promise;
  const order: string[] = [];
  const second = world.say("[[say:two]]", { session_id: sessionId }).then(({ text }) => order.push(text));
  const other = await world.say("[[say:three]]");
  order.push(other.text);
  release.resolve();
  order.push((await first).text);
  await second;
  expect(order[0]).toBe("three");
  expect(order.toSorted()).toEqual(["one", "three", "two"]);
});
