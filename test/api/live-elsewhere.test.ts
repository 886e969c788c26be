/** Two servers on one PostgreSQL: who listens at one of them gets what happens at the other. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { dropEngineDatabase, isOnPostgres } from "../support/engine.ts";
import { openEvents } from "../support/event-frames.ts";
import { eventually } from "../support/eventually.ts";
import { as, createLiveWorld, type LiveConversation, type LiveWorld } from "../support/live-world.ts";
import { temporaryDirectory } from "../support/temporary.ts";

// One process has nobody to tell.
if (isOnPostgres) {
  const directory = temporaryDirectory();
  const dataDir = directory.path;
  let here: TestServer;
  let there: TestServer;
  let world: LiveWorld;
  let conversation: LiveConversation;

  beforeAll(async () => {
    here = await startTestServer({ dataDir, isShared: true });
    there = await startTestServer({ dataDir, isShared: true });
  });
  beforeEach(async () => {
    // The team is here, visitors are there.
    world = await createLiveWorld(here, {}, {}, there.url);
    conversation = await world.begin();
    await conversation.take();
  });
  afterAll(async () => {
    await there.close();
    await here.close();
    await dropEngineDatabase(dataDir);
    directory[Symbol.dispose]();
  });

  test("messages, states and typing arrive from the other server, in order and once", async () => {
    const stream = await conversation.listen();
    await stream.until(1);
    const path = `/api/conversations/${conversation.id}`;
    await world.owner.call("POST", `${path}/typing`, { typing: true, as });
    await stream.until(2);
    for (const text of ["a", "b", "c"]) await conversation.write(text);
    const frames = await stream.until(6);
    expect(frames.map(({ event, id }) => id ?? event)).toEqual(["state", "typing", "typing", "3", "4", "5"]);
    const { json } = await world.owner.call("GET", path);
    expect(json["handoff"]).toMatchObject({ reach: "live" });
    stream.close();
  });

  test("the team gets what visitors write and type at the other server", async () => {
    const inbox = await openEvents(`${here.url}/api/inbox/events`, { authorization: `Bearer ${world.key}` });
    await inbox.until(2);
    await conversation.say("Are you there?");
    await eventually(() => inbox.frames.some(({ data }) => data.message_count === 3));
    await fetch(`${there.url}/api/embed/${world.companion.embedToken}/live`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ session_id: conversation.sessionId, visitor_id: conversation.visitorId, typing: true }),
    });
    await eventually(() => inbox.frames.at(-1)?.event === "typing");
    expect(inbox.frames.at(-1)?.data).toMatchObject({ conversation_id: conversation.id, typing: true });
    await conversation.say("Still there?");
    await eventually(() => inbox.frames.some(({ data }) => data.typing === false));
    inbox.close();
  });

  test("a stream ends when the conversation is deleted at the other server", async () => {
    const stream = await conversation.listen();
    await stream.until(1);
    await world.owner.call("DELETE", `/api/conversations/${conversation.id}`);
    expect((await stream.untilOver()).at(-1)?.comment).toBe("error unavailable");
  });

  test("what was lost while a server did not hear is found once it hears again", async () => {
    const stream = await conversation.listen();
    await stream.until(1);
    // Written past the servers, as if no announcement had arrived.
    const { store } = here.services;
    const ref = { accountId: world.account.id, conversationId: conversation.id };
    await store.handoffs.revise(
      {
        ...{ conversation: ref, newConversationId: null, clientId: null, clientIdOf: "person", arrivalMark: null },
        decide: () => ({ fields: { state: "waiting", person: null, reason: "idle", sinceMs: 5 } }),
      },
      testContext(),
    );
    const frames = await stream.until(2);
    expect(frames[1]).toMatchObject({ event: "state", data: { state: "waiting", person: null, reason: "idle" } });
    stream.close();
  });
}
