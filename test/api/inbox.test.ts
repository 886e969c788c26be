/** `GET /api/inbox/events`: what a team sees of its conversations, over any cut. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { openMemberDashboard } from "../support/dashboard.ts";
import { type Frame, openEvents } from "../support/event-frames.ts";
import { eventually } from "../support/eventually.ts";
import { as, createLiveWorld, type LiveWorld } from "../support/live-world.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ lookEveryMs: 50 });
});
afterAll(() => server.close());

function follow(headers: Record<string, string>, query = "") {
  return openEvents(`${server.url}/api/inbox/events${query}`, headers);
}

const followWith = ({ key }: LiveWorld, query = "", headers = {}) =>
  follow({ authorization: `Bearer ${key}`, ...headers }, query);
const rows = (frames: readonly Frame[]) => frames.filter(({ event }) => event === "conversation");

test("has every conversation outside plain talk as it stands, then each change, without the words", async () => {
  const world = await createLiveWorld(server);
  const [one, other] = [await world.begin(), await world.begin()];
  await world.begin();
  await one.take();
  await one.write("Hello.");
  const inbox = await followWith(world);
  await eventually(() => rows(inbox.frames).length === 1);
  const [first] = rows(inbox.frames);
  expect(first?.data).toMatchObject({ id: one.id, state: "person", status: "answered", person: { name: "Grace" } });
  expect(first?.data.messages).toBeUndefined();
  expect(first?.data.last_message).toBeUndefined();
  await other.take();
  await eventually(() => rows(inbox.frames).length === 2);
  await one.say("Are you there?");
  await eventually(() => rows(inbox.frames).length === 3);
  expect(rows(inbox.frames).map(({ data }) => data.id)).toEqual([one.id, other.id, one.id]);
  expect(rows(inbox.frames)[2]?.data).toMatchObject({ status: "open", message_count: 4 });
  const ids = rows(inbox.frames).map(({ id }) => Number(id));
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  inbox.close();
});

test("brings the words to who asks for them, and who is unread to whom a key names", async () => {
  const world = await createLiveWorld(server);
  const conversation = await world.begin();
  await conversation.take();
  await conversation.say("Are you there?");
  const inbox = await followWith(world, `?include_content=true&as=${as.id}`);
  await eventually(() => rows(inbox.frames).length === 1);
  const [row] = rows(inbox.frames);
  expect(row?.data.unread).toBeGreaterThan(0);
  expect(row?.data.messages.map(({ text }: { text: string }) => text).slice(-2)).toEqual(["Hello", "Are you there?"]);
  inbox.close();
  const brief = await followWith(world, "?include=excerpts");
  await eventually(() => rows(brief.frames).length === 1);
  expect(rows(brief.frames)[0]?.data).toMatchObject({
    ...{ first_message: { role: "user" }, last_message: { role: "user", text: "Are you there?" } },
    ...{ failed: false, channels: ["text"], state: "person", waiting_since: expect.any(String) },
  });
  await conversation.write("Yes.");
  await eventually(() => rows(brief.frames).at(-1)?.data.last_message?.text === "Yes.");
  expect(rows(brief.frames).at(-1)?.data.waiting_since).toBeNull();
  brief.close();
  expect((await followWith(world, "?include_content=maybe")).status).toBe(400);
  expect((await followWith(world, "?include=all")).status).toBe(400);
  expect((await followWith(world, "?unknown=1")).status).toBe(400);
});

test("misses no change over any cut", async () => {
  const world = await createLiveWorld(server);
  const conversations = [await world.begin(), await world.begin(), await world.begin()];
  for (const conversation of conversations) await conversation.take();
  const seen = new Map<string, number>();
  let lastId: string | null = null;
  for (let round = 0; round < 8; round++) {
    const inbox = await followWith(world, "", lastId === null ? {} : { "last-event-id": lastId });
    const conversation = conversations[round % 3];
    const before = conversation?.write(`${round}`);
    if (round % 2 === 0) await inbox.until(2);
    inbox.close();
    await before;
    for (const { data, id } of rows(inbox.frames)) {
      seen.set(data.id, data.message_count);
      lastId = id;
    }
  }
  const last = await followWith(world, "", { "last-event-id": lastId ?? "" });
  const known = async () => {
    for (const { data } of rows(last.frames)) seen.set(data.id, data.message_count);
    return conversations.every(({ id }, at) => seen.get(id) === 2 + (at === 2 ? 2 : 3));
  };
  await eventually(known);
  expect([...seen.values()].toSorted()).toEqual([4, 5, 5]);
  last.close();
});

test("sends nothing again that was sent before, and everything to who names no last event", async () => {
  const world = await createLiveWorld(server);
  const conversation = await world.begin();
  await conversation.write("Hello.");
  const first = await followWith(world);
  await eventually(() => rows(first.frames).length === 1);
  first.close();
  const id = rows(first.frames)[0]?.id ?? "";
  const second = await followWith(world, "", { "last-event-id": id });
  await conversation.release();
  await eventually(() => rows(second.frames).length === 1);
  expect(rows(second.frames)[0]?.data.state).toBe("companion");
  second.close();
  const malformed = await followWith(world, "", { "last-event-id": "none" });
  await eventually(() => rows(malformed.frames).length === 1);
  malformed.close();
});

test("shows members their own companions alone, also what is typed, and ends when these become others", async () => {
  const world = await createLiveWorld(server);
  const { account } = world;
  const hidden = await createLiveWorld(server, {}, {}, server.url, account);
  const member = await openMemberDashboard(server, { account }, { companionIds: [world.companion.id] });
  const inbox = await follow({ cookie: member.cookie });
  const [own, other] = [await world.begin(), await hidden.begin()];
  await other.take();
  await hidden.owner.call("POST", `/api/conversations/${other.id}/typing`, { typing: true, as });
  await own.take();
  await world.owner.call("POST", `/api/conversations/${own.id}/typing`, { typing: true, as });
  await eventually(() => inbox.frames.some(({ event }) => event === "typing"));
  const about = inbox.frames.flatMap(({ data }) => data?.id ?? data?.conversation_id ?? []);
  expect(new Set(about)).toEqual(new Set([own.id]));
  const { store } = server.services;
  await store.members.update(account.id, member.member.id, { companionIds: [hidden.companion.id] }, testContext());
  expect((await inbox.untilOver()).at(-1)?.comment).toBe("error unavailable");
});

test("makes a member present whose switch is on, and shows it to the others", async () => {
  const world = await createLiveWorld(server);
  const { account } = world;
  const member = await openMemberDashboard(server, { account }, { name: "Grace" });
  const watching = await followWith(world);
  await eventually(() => watching.frames.some(({ event }) => event === "presence"));
  expect(watching.frames[0]?.data).toEqual({ members: [], available: false });
  const inbox = await follow({ cookie: member.cookie });
  await inbox.until(1);
  expect((await member.call("PUT", "/api/presence", { available: true })).status).toBe(200);
  const grace = { id: member.member.id, name: "Grace" };
  await eventually(() => watching.frames.at(-1)?.data?.members?.length === 1);
  expect(watching.frames.at(-1)?.data).toEqual({ members: [grace], available: false });
  await eventually(() => inbox.frames.at(-1)?.data?.available === true);
  expect(inbox.frames.at(-1)?.data).toEqual({ members: [grace], available: true });
  for (const stream of [watching, inbox]) stream.close();
});

test("shows whom a key names present until their time, and no longer", async () => {
  const world = await createLiveWorld(server);
  const { account, owner } = world;
  const own = await followWith(world, `?as=${as.id}`);
  const lastOf = () => own.frames.findLast(({ event }) => event === "presence")?.data;
  expect((await owner.call("PUT", "/api/presence", { for_seconds: 60, as })).status).toBe(200);
  await eventually(() => lastOf()?.available === true);
  expect(lastOf()?.members).toMatchObject([{ name: "Grace" }]);
  const { store, live, clock } = server.services;
  const [there] = await store.handoffs.listPresent(account.id, clock.nowMs());
  if (there === undefined) throw new Error("nobody is present");
  await store.handoffs.setPresence(account.id, { ...there, untilMs: clock.nowMs() - 1 });
  live.notePresence(account.id);
  await eventually(() => lastOf()?.members.length === 0);
  expect(lastOf()).toEqual({ members: [], available: false });
  own.close();
});

test("needs the scope", async () => {
  const world = await createLiveWorld(server);
  const { key } = await server.createKey(world.account, ["usage:read"]);
  expect((await follow({ authorization: `Bearer ${key}` })).status).toBe(403);
  expect((await follow({})).status).toBe(401);
});
