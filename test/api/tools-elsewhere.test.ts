/** Two servers on one PostgreSQL: what a visitor decides, and who comes back to a reply that calls tools, at either. */
import { expect, test } from "bun:test";
import { startTestServer } from "../support/app.ts";
import { sendChat } from "../support/chat.ts";
import { dropEngineDatabase, isOnPostgres } from "../support/engine.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { openToolWorld, readEvents } from "../support/tool-world.ts";

// One process has nobody to share calls with.
if (isOnPostgres) {
  const shared = { isShared: true, environment: { COMPANIOND_PRIVATE_TARGETS: "127.0.0.1" } };

  test("a call that one server asked about is decided at another, once, and both know how it ended", async () => {
    using directory = temporaryDirectory();
    const dataDir = directory.path;
    {
      await using world = await openToolWorld({ ...shared, dataDir });
      const { companion, calls } = world;
      const there = await startTestServer({ ...shared, dataDir });
      await using _closing = { [Symbol.asyncDispose]: () => there.close() };
      await world.addTool({ name: "book", title: "Book", confirm: true });
      const named = { session_id: crypto.randomUUID(), message_id: crypto.randomUUID() };
      const asked = await world.say("[[call:book {}]]", named);
      const callId = String(asked.events[0]?.data.call_id);
      const decide = (url: string) =>
        fetch(`${url}/api/embed/${companion.embedToken}/confirmations/${callId}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ approve: true, session_id: named.session_id }),
        }).then(readEvents);
      const decided = await Promise.all([decide(there.url), decide(world.server.url), decide(there.url)]);
      expect(decided.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
      expect(calls.map(({ id }) => id)).toEqual([callId]);
      for (const { url } of [world.server, there]) {
        const message = { message: "[[call:book {}]]", events: true, ...named };
        const again = await readEvents(await sendChat(url, companion.embedToken, message));
        expect(again.events.map(({ name, data }) => [name, data.state])).toEqual([["tool", "done"]]);
      }
    }
    await dropEngineDatabase(dataDir);
  });

  test("who comes back at the other server while a tool runs gets its events and the rest", async () => {
    using directory = temporaryDirectory();
    const dataDir = directory.path;
    {
      await using world = await openToolWorld({ ...shared, dataDir });
      const { companion } = world;
      const there = await startTestServer({ ...shared, dataDir });
      await using _closing = { [Symbol.asyncDispose]: () => there.close() };
      await world.addTool();
      const arrived = Promise.withResolvers<void>();
      const release = Promise.withResolvers<void>();
      world.answer(async () => {
        arrived.resolve();
        await release.promise;
        return Response.json({ ok: 1 });
      });
      const named = { session_id: crypto.randomUUID(), message_id: crypto.randomUUID(), resume: true };
      const sent = world.say("[[before:A moment.]][[call:look_up {}]][[say:Here.]]", named);
      await arrived.promise;
      const query = new URLSearchParams({ session_id: named.session_id, events: "true" });
      const path = `${there.url}/api/embed/${companion.embedToken}/chat/${named.message_id}`;
      const response = await fetch(`${path}?${query}`);
      release.resolve();
      const followed = await readEvents(response);
      const first = await sent;
      expect(followed).toMatchObject({ text: first.text, events: first.events, isDone: true });
    }
    await dropEngineDatabase(dataDir);
  });
}
