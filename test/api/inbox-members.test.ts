/** What becomes of a member's conversations when their companions change, or they are removed; and cursors of elsewhere. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../support/app.ts";
import { openMemberDashboard, withCookie } from "../support/dashboard.ts";
import { openEvents } from "../support/event-frames.ts";
import { eventually } from "../support/eventually.ts";
import { as, createLiveWorld } from "../support/live-world.ts";
import { handoffSettings } from "../support/people-world.ts";
import { storeSession } from "../support/stored-session.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

async function openWorld() {
  const world = await createLiveWorld(server);
  const own = withCookie(server.url, (await storeSession(server.services.store, world.account.id)).cookie);
  const other = await server.createCompanion({ handoff: handoffSettings }, world.account);
  return { ...world, own, other };
}

test("a member loses a conversation with its companion, which answers it again", async () => {
  const world = await openWorld();
  const [conversation, kept] = [await world.begin(), await world.begin()];
  const member = await openMemberDashboard(server, world);
  for (const { id } of [conversation, kept]) {
    expect((await member.call("POST", `/api/conversations/${id}/take`)).status).toBe(200);
  }
  const patch = (companion_ids: string[] | null) =>
    world.own.call("PATCH", `/api/members/${member.member.id}`, { companion_ids });
  const stateOf = async ({ id }: { id: string }) =>
    (await world.owner.call("GET", `/api/conversations/${id}`)).json["state"];
  expect((await patch([world.companion.id])).status).toBe(200);
  expect(await stateOf(kept)).toBe("person");
  expect((await patch([world.other.id])).status).toBe(200);
  expect([await stateOf(conversation), await stateOf(kept)]).toEqual(["companion", "companion"]);
});

test("who comes back with the last id is sent what changed since, and with an id from elsewhere everything", async () => {
  const world = await openWorld();
  const [first, second] = [await world.begin(), await world.begin()];
  await first.take();
  const open = async (lastId?: string) => {
    const headers = lastId === undefined ? {} : { "last-event-id": lastId };
    return await openEvents(`${server.url}/api/inbox/events`, { authorization: `Bearer ${world.key}`, ...headers });
  };
  type Opened = Awaited<ReturnType<typeof open>>;
  const rows = ({ frames }: Opened) => frames.filter(({ event }) => event === "conversation");
  const begun = await open();
  await eventually(() => rows(begun).length === 1);
  const lastId = rows(begun)[0]?.id ?? "";
  begun.close();
  await second.take();
  const back = await open(lastId);
  await eventually(() => rows(back).length > 0);
  expect(rows(back).map(({ data }) => data["id"])).toEqual([second.id]);
  const strange = await open("999999999");
  await eventually(() => rows(strange).length === 2);
  expect(rows(strange).map(({ data }) => data["id"])).toEqual([first.id, second.id]);
  for (const one of [back, strange]) one.close();
});

test("what was assigned to a member who is removed is sent as no one's", async () => {
  const world = await openWorld();
  const conversation = await world.begin();
  const member = await openMemberDashboard(server, world);
  const path = `/api/conversations/${conversation.id}`;
  await world.owner.call("PATCH", path, { assignee: member.member.id, status: "open", as });
  const inbox = await openEvents(`${server.url}/api/inbox/events`, { authorization: `Bearer ${world.key}` });
  await eventually(() => inbox.frames.some(({ data }) => data["assignee"] === member.member.id));
  expect((await world.own.call("DELETE", `/api/members/${member.member.id}`)).status).toBe(204);
  await eventually(() => inbox.frames.findLast(({ event }) => event === "conversation")?.data["assignee"] === null);
  inbox.close();
});
