/** What ends streams of `/live`, and with which words. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Store } from "../../src/contracts/store/store.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { openStoreBeside } from "../support/engine.ts";
import { openEvents } from "../support/event-frames.ts";
import { eventually } from "../support/eventually.ts";
import { createLiveWorld, type LiveWorld } from "../support/live-world.ts";
import { createWebsiteKey, signToken } from "../support/visitor-keys.ts";

let server: TestServer;
let beside: Store;
beforeAll(async () => {
  server = await startTestServer({ lookEveryMs: 50 });
  beside = await openStoreBeside(server.dataDir);
});
afterAll(async () => {
  await beside.close();
  await server.close();
});

const unavailable = "error unavailable";

type Loss = [what: string, take: (world: LiveWorld) => Promise<unknown>];
const losses: Loss[] = [
  [
    "the companion is disabled",
    ({ companion: { accountId, id } }) => beside.companions.update(accountId, id, { enabled: false }, testContext()),
  ],
  [
    "the companion is deleted",
    ({ companion: { accountId, id } }) => beside.companions.delete(accountId, id, testContext()),
  ],
  [
    "the token is revoked",
    async ({ companion: { accountId, id } }) => {
      const [token] = (await beside.embedTokens.list(accountId, id)) ?? [];
      await beside.embedTokens.revoke(accountId, id, token?.id ?? "", testContext());
    },
  ],
  [
    "the account is suspended",
    ({ companion: { accountId } }) => beside.accounts.update(accountId, { suspendedAt: 1 }, testContext()),
  ],
];

test.each(losses)("all streams of a token end when %s, by whatever process", async (_, take) => {
  const world = await createLiveWorld(server);
  const conversations = [await world.begin(), await world.begin()];
  const streams = await Promise.all(
    conversations.map(async (conversation) => {
      await conversation.take();
      return await conversation.listen();
    }),
  );
  const waiting = conversations[0]?.poll("&after=2&wait=25");
  for (const stream of streams) await stream.until(1);
  await eventually(() => server.services.live.size === 3);
  await take(world);
  for (const stream of streams) expect((await stream.untilOver()).at(-1)?.comment).toBe(unavailable);
  expect((await waiting)?.status).toBe(503);
  await eventually(() => server.services.live.size === 0);
});

test("a stream ends when the conversation is deleted, its visitor erased, or it was given to another visitor", async () => {
  const world = await createLiveWorld(server, {}, { visitorAuth: "optional" });
  const [one, other, third] = [await world.begin(), await world.begin(), await world.begin()];
  for (const conversation of [one, other, third]) await conversation.take();
  const streams = [await one.listen(), await other.listen(), await third.listen()];
  for (const stream of streams) await stream.until(1);
  await world.owner.call("DELETE", `/api/conversations/${one.id}`);
  await world.owner.call("DELETE", `/api/companions/${world.companion.id}/visitors/${other.visitorId}`);
  const token = await signToken(await createWebsiteKey(server.url, world.key), world.companion.id);
  const merged = await fetch(`${server.url}/api/embed/${world.companion.embedToken}/visitor/merge`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-visitor-token": token },
    body: JSON.stringify({ session_id: third.sessionId, visitor_id: third.visitorId }),
  });
  expect(merged.status).toBe(204);
  for (const stream of streams) expect((await stream.untilOver()).at(-1)?.comment).toBe(unavailable);
  const own = await third.listen("", { "x-visitor-token": token });
  expect((await own.until(3)).map(({ event, id }) => id ?? event)).toEqual(["state", "1", "2"]);
  own.close();
});

test("a verified visitor's stream ends with the token, and not without one", async () => {
  const world = await createLiveWorld(server, {}, { visitorAuth: "optional" });
  const key = await createWebsiteKey(server.url, world.key);
  const now = Math.floor(Date.now() / 1000);
  const [short, long] = [
    await signToken(key, world.companion.id, { exp: now + 2 }),
    await signToken(key, world.companion.id),
  ];
  const conversation = await world.begin({ "x-visitor-token": long });
  await conversation.take();
  const [ending, staying] = [await conversation.listen("", { "x-visitor-token": short }), await conversation.listen()];
  expect((await ending.untilOver()).at(-1)?.comment).toBe("error visitor_unverified");
  expect(staying.isOver).toBe(false);
  staying.close();
});

test("the sixth stream of a conversation ends the first, which is told that it was replaced", async () => {
  const conversation = await (await createLiveWorld(server)).begin();
  await conversation.take();
  const streams = [];
  for (let number = 0; number < 6; number++) {
    const stream = await conversation.listen();
    await stream.until(1);
    streams.push(stream);
  }
  expect((await streams[0]?.untilOver())?.at(-1)?.comment).toBe("error replaced");
  expect(streams.slice(1).some(({ isOver }) => isOver)).toBe(false);
  for (const stream of streams) stream.close();
  await eventually(() => server.services.live.size === 0);
});

test("a key's stream ends when the key is revoked", async () => {
  const world = await createLiveWorld(server);
  const conversation = await world.begin();
  await conversation.take();
  const [{ id, key }, inboxKey] = [await server.createKey(world.account), await server.createKey(world.account)];
  const query = `?session_id=${conversation.sessionId}&visitor_id=${conversation.visitorId}`;
  const path = `${server.url}/api/companions/${world.companion.id}/live${query}`;
  const relayed = await openEvents(path, { authorization: `Bearer ${key}` });
  const inbox = await openEvents(`${server.url}/api/inbox/events`, { authorization: `Bearer ${inboxKey.key}` });
  await Promise.all([relayed.until(1), inbox.until(1)]);
  for (const revoked of [id, inboxKey.id])
    await beside.apiKeys.revoke(world.account.id, revoked, testContext(), systemIds.uuid);
  for (const stream of [relayed, inbox]) expect((await stream.untilOver()).at(-1)?.comment).toBe(unavailable);
});

test("streams end at the beginning of a shutdown, hold it up in nothing, and none begins any more", async () => {
  const leaving = await startTestServer();
  const world = await createLiveWorld(leaving);
  const conversation = await world.begin();
  await conversation.take();
  const stream = await conversation.listen();
  const inbox = await openEvents(`${leaving.url}/api/inbox/events`, { authorization: `Bearer ${world.key}` });
  await Promise.all([stream.until(1), inbox.until(1)]);
  leaving.services.lifecycle.isDraining = true;
  expect((await conversation.listen()).status).toBe(503);
  const drained = leaving.drain(60_000);
  for (const one of [stream, inbox]) expect((await one.untilOver()).at(-1)?.comment).toBe(unavailable);
  await drained;
  await leaving.close();
});
