/** The inbox's stream, as members follow it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
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

describe("a member of one companion", () => {
  test("is sent its conversations and who types there, is present from the start, and hears nothing of another's", async () => {
    const world = await openWorld();
    const conversation = await world.begin();
    const member = await openMemberDashboard(server, world, { companionIds: [world.other.id] });
    await conversation.take();
    expect((await member.call("PUT", "/api/presence", { available: true })).status).toBe(200);
    const inbox = await openEvents(`${server.url}/api/inbox/events`, { cookie: member.cookie });
    expect((await inbox.until(1))[0]).toMatchObject({
      event: "presence",
      data: { members: [{ id: member.member.id, name: "Grace" }], available: true },
    });

    const asked = await fetch(`${server.url}/api/embed/${world.other.embedToken}/person`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ session_id: crypto.randomUUID() }),
    });
    expect(asked.status).toBe(200);
    await inbox.until(2);
    const id = inbox.frames[1]?.data["id"];
    await world.owner.call("POST", `/api/conversations/${conversation.id}/typing`, { typing: true, as });
    await world.owner.call("POST", `/api/conversations/${id}/typing`, { typing: true, as });
    const [, row, typing] = await inbox.until(3);
    expect(row).toMatchObject({ event: "conversation", data: { companion_id: world.other.id, state: "waiting" } });
    expect(typing).toMatchObject({ event: "typing", data: { conversation_id: id, typing: true } });
    expect(inbox.raw).not.toContain(conversation.id);
    inbox.close();
  });

  test("loses a conversation with its companion, which answers it again", async () => {
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
