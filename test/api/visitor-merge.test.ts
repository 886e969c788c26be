/** Holds how a visitor who becomes known takes over what was said before. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectInvalid, expectProblem } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { openVerifiedWorld, type VerifiedWorld } from "../support/verified-world.ts";

let world: VerifiedWorld;
beforeAll(async () => {
  world = await openVerifiedWorld();
});
afterAll(() => world.server.close());

const uuid = () => crypto.randomUUID();

async function merge(sub: string, body: object): Promise<number> {
  const response = await world.embed("POST", "/visitor/merge", await world.sign(sub, { name: "Ada" }), body);
  expect(response.text).toBe("");
  return response.status;
}

async function listOwn(sub: string) {
  return (await world.embed("GET", "/conversations", await world.sign(sub))).json.data;
}

test.each([
  ["with a visitor_id", () => uuid()],
  ["without one", () => null],
])("an anonymous conversation %s becomes the visitor's, with all that is in it, once", async (_, makeId) => {
  const [sub, session_id, visitor_id] = [uuid(), uuid(), makeId()];
  await world.say(null, { message: "I like tea.", session_id, visitor_id });
  expect(
    await merge(sub, { session_id: session_id.toUpperCase(), visitor_id: visitor_id?.toUpperCase() ?? null }),
  ).toBe(204);
  expect(await listOwn(sub)).toMatchObject([{ session_id, message_count: 2 }]);
  await world.say(await world.sign(sub), { message: "What do I like?", session_id });
  expect(JSON.stringify(world.lastPrompt())).toContain("I like tea.");
  // Whoever sends the old ids begins anew.
  await world.say(null, { message: "What do I like?", session_id, visitor_id });
  expect(JSON.stringify(world.lastPrompt())).not.toContain("I like tea.");
  // The session is the visitor's already: what is new stays anonymous.
  expect(await merge(sub, { session_id, visitor_id })).toBe(204);
  expect(await listOwn(sub)).toMatchObject([{ message_count: 4 }]);
  const { data } = (await world.owner.call("GET", `/api/conversations?visitor_sub=${sub}`)).json;
  expect(data).toMatchObject([{ session_id, visitor_id: null, visitor: { sub } }]);
});

test("what is not anonymous, or not there, stays as it is", async () => {
  const [owner, thief, session_id, visitor_id] = [uuid(), uuid(), uuid(), uuid()];
  await world.say(await world.sign(owner), { message: "Mine.", session_id, visitor_id });
  expect(await merge(thief, { session_id, visitor_id })).toBe(204);
  expect(await merge(thief, { session_id })).toBe(204);
  expect(await merge(thief, { session_id: uuid(), visitor_id: null })).toBe(204);
  expect(await listOwn(thief)).toEqual([]);
  expect(await listOwn(owner)).toHaveLength(1);
});

test("the second of two visitors finds nothing to take over", async () => {
  const [first, second, session_id, visitor_id] = [uuid(), uuid(), uuid(), uuid()];
  await world.say(null, { message: "Hello", session_id, visitor_id });
  await Promise.all([first, second].map((sub) => merge(sub, { session_id, visitor_id })));
  const lists = await Promise.all([first, second].map(listOwn));
  expect(lists.map((list) => list.length).toSorted()).toEqual([0, 1]);
});

/** A reply to an anonymous visitor that runs until `finish` is called. */
async function beginReply(session_id: string, visitor_id: string) {
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  world.server.mockLlm.respond(async (_, response) => {
    await response.write('data: {"choices":[{"delta":{"content":"Tea it "}}]}\n\n');
    begun.resolve();
    await go.promise;
    await response.write('data: {"choices":[{"delta":{"content":"is."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
    response.end();
  });
  const reply = world.say(null, { message: "I like tea.", session_id, visitor_id });
  await begun.promise;
  world.server.mockLlm.respond(null);
  return { reply, finish: go.resolve };
}

test("waits for a reply that is running, and takes it over too", async () => {
  const [sub, session_id, visitor_id] = [uuid(), uuid(), uuid()];
  const { reply, finish } = await beginReply(session_id, visitor_id);
  let isMerged = false;
  const merging = merge(sub, { session_id, visitor_id }).then((status) => {
    isMerged = true;
    return status;
  });
  // Another conversation's is not delayed.
  expect(await merge(sub, { session_id: uuid(), visitor_id })).toBe(204);
  expect(isMerged).toBe(false);
  finish();
  expect(await merging).toBe(204);
  expect((await reply).isDone).toBe(true);
  expect(await listOwn(sub)).toMatchObject([{ session_id, message_count: 2 }]);
});

test("takes nothing over for a visitor who is erased while it waits", async () => {
  const [sub, session_id, visitor_id] = [uuid(), uuid(), uuid()];
  const { reply, finish } = await beginReply(session_id, visitor_id);
  const { coordination } = world.server.services;
  const merging = merge(sub, { session_id, visitor_id });
  await eventually(() => coordination.turns.waitingCount === 1);
  expect((await world.owner.call("DELETE", `/api/companions/${world.companion.id}/visitors/${sub}`)).status).toBe(204);
  finish();
  expect(await merging).toBe(204);
  expect((await reply).isDone).toBe(true);
  expect(await listOwn(sub)).toEqual([]);
});

test("is for verified visitors, with a body that names a session", async () => {
  const token = await world.sign("ada");
  const body = { session_id: uuid(), visitor_id: null };
  expectProblem(await world.embed("POST", "/visitor/merge", null, body), 401, "visitor_unverified");
  for (const [wrong, params] of [
    [{}, ["session_id"]],
    [{ session_id: null }, ["session_id"]],
    [{ session_id: "x", visitor_id: "y" }, ["session_id", "visitor_id"]],
    [{ session_id: `${uuid()}\0` }, ["session_id"]],
  ] as const) {
    expectInvalid(await world.embed("POST", "/visitor/merge", token, wrong), params);
  }
  const { server, companion } = world;
  const url = `${server.url}/api/embed/${companion.embedToken}/visitor/merge`;
  const form = await fetch(url, { method: "POST", headers: { "x-visitor-token": token }, body: JSON.stringify(body) });
  expect([form.status, await form.text()]).toEqual([415, expect.stringContaining("unsupported_media_type")]);
});
