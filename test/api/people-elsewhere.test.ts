/** Two servers on one PostgreSQL: a conversation is taken at one of them while its reply runs at the other. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../support/app.ts";
import { sendChat } from "../support/chat.ts";
import { dropEngineDatabase, isOnPostgres } from "../support/engine.ts";
import { grace, openPeopleChat, type PeopleChat } from "../support/people-chat.ts";
import { newMessage } from "../support/resumed-chat.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { readEvents } from "../support/tool-world.ts";

// One process learns of it at once.
if (isOnPostgres) {
  const directory = temporaryDirectory();
  const shared = { dataDir: directory.path, isShared: true };
  let here: PeopleChat;
  let there: TestServer;
  beforeAll(async () => {
    here = await openPeopleChat({}, shared);
    there = await startTestServer(shared);
  });
  afterAll(async () => {
    await there.close();
    await here[Symbol.asyncDispose]();
    await dropEngineDatabase(directory.path);
    directory[Symbol.dispose]();
  });

  async function begin(): Promise<string> {
    const session = crypto.randomUUID();
    await here.say("hello", { session_id: session });
    return session;
  }

  test("the reply ends, and its part stands before what the person writes", async () => {
    const session = await begin();
    const reply = await sendChat(here.server.url, here.companion.embedToken, {
      ...{ message: "[[words:1000]][[delay:20]]", session_id: session },
    });
    const written = { text: "I take over.", clientId: crypto.randomUUID(), afterSeq: null };
    await there.services.people.say(await here.placeOf(session), written);
    const read = await readEvents(reply);
    expect(read.raw).toEndWith(": error taken\n\n");
    expect((await here.transcript(session)).slice(3)).toEqual([`companion: ${read.text}…`, "Grace: I take over."]);
  });

  test("a message that runs at one and is repeated at the other is kept once, and answered at both", async () => {
    const session = await begin();
    const { mockLlm } = here.server;
    const message = { ...newMessage({ session_id: session, message: "[[hang]] hear me" }), events: true };
    const token = here.companion.embedToken;
    const first = sendChat(here.server.url, token, message);
    await mockLlm.until(() => mockLlm.openRequests === 1);
    const repeated = sendChat(there.url, token, message);
    await there.services.people.take(await here.placeOf(session), { stop: true, from: null });
    for (const answer of [first, repeated]) {
      const read = await readEvents(await answer);
      expect(read).toMatchObject({ status: 200, isDone: true, text: "" });
      expect(read.events).toMatchObject([{ name: "state", data: { state: "person", person: { name: grace.name } } }]);
    }
    expect((await here.transcript(session)).slice(2)).toEqual(["visitor: [[hang]] hear me"]);
    expect(there.mockLlm.requests).toEqual([]);
  });

  test("takes and messages at the same instant leave each message in one of the two worlds", async () => {
    const rounds = Array.from({ length: 8 }, async (_, round) => {
      const session = await begin();
      const { url } = round % 2 === 0 ? here.server : there;
      const message = { ...newMessage({ session_id: session, message: `round ${round}` }), events: true };
      const [response] = await Promise.all([
        sendChat(url, here.companion.embedToken, message),
        there.services.people.take(await here.placeOf(session), { stop: true, from: null }),
      ]);
      const read = await readEvents(response);
      expect(read.status).toBe(200);
      const [, , question, ...rest] = await here.transcript(session);
      expect(question).toBe(`visitor: round ${round}`);
      expect(rest).toEqual(rest.length === 0 ? [] : [`companion: ${read.text}${read.isDone ? "" : "…"}`]);
      const isAfter = rest.length === 0 || !read.isDone;
      if (isAfter) expect(read.events.at(-1)).toMatchObject({ name: "state", data: { state: "person" } });
    });
    await Promise.all(rounds);
  });
}
