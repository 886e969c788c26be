/** Turns of conversations that people step into: kept for them, stopped by them, handed to them (contract-3, section 10). */
import { describe, expect, spyOn, test } from "bun:test";
import type { HandoffStore } from "../../src/contracts/store/handoffs.ts";
import { toUtcDay } from "../../src/lib/clock.ts";
import { testContext } from "../support/app.ts";
import { readProblem, sendChat } from "../support/chat.ts";
import { eventually } from "../support/eventually.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { grace, openPeopleChat, type PeopleChat } from "../support/people-chat.ts";
import { cancel, follow, newMessage } from "../support/resumed-chat.ts";
import { readChallenge, solve } from "../support/solve.ts";
import { readEvents } from "../support/tool-world.ts";

const uuid = () => crypto.randomUUID();

/** A conversation that has begun, and that Grace has. */
async function takeNew(world: PeopleChat): Promise<string> {
  const session = uuid();
  await world.say("hello", { session_id: session });
  await world.take(session);
  return session;
}

const countDay = ({ server, companion }: PeopleChat) =>
  server.services.store.turns.countDay(companion.id, toUtcDay(server.services.clock.nowMs()));

/** A server whose day does not end while it is tested. */
const openOneDay = (settings = {}) => openPeopleChat(settings, { clock: createManualClock(Date.now()) });

const byGrace = {
  ...{ state: "person", person: { name: "Grace" }, reason: "taken" },
  ...{ since: expect.any(String), until: expect.any(String) },
};

describe("a message to a conversation that a person has", () => {
  test("is kept, and answered with the state alone: no provider, no quota", async () => {
    await using world = await openOneDay();
    const session = await takeNew(world);
    const asked = world.server.mockLlm.requests.length;
    const read = await world.say("Is anyone there?", { session_id: session });
    expect(read).toMatchObject({ status: 200, isDone: true, text: "" });
    expect(read.events).toEqual([{ name: "state", data: byGrace }]);
    expect(world.server.mockLlm.requests).toHaveLength(asked);
    expect(await countDay(world)).toBe(1);
    expect(await world.transcript(session)).toEqual([
      "visitor: hello",
      "companion: You said: hello",
      "visitor: Is anyone there?",
    ]);
  });

  test("brings people's words to a client that knows the chat alone, once, else the companion's sentence", async () => {
    await using world = await openPeopleChat();
    const session = await takeNew(world);
    const say = async (message: string) => (await world.sayPlainly(message, { session_id: session })).raw;
    expect(await say("one")).toBe('data: {"text":"Grace will read it."}\n\ndata: [DONE]\n\n');
    await world.write(session, "Good day.");
    await world.write(session, "How can I help?");
    expect(await say("two")).toBe(
      'data: {"text":"Good day."}\n\ndata: {"text":"\\n\\nHow can I help?"}\n\ndata: [DONE]\n\n',
    );
    expect(await say("three")).toBe('data: {"text":"Grace will read it."}\n\ndata: [DONE]\n\n');
  });

  test("that has a name is kept once, and has no reply to come back to", async () => {
    await using world = await openPeopleChat();
    const { url } = world.server;
    const token = world.companion.embedToken;
    const session = await takeNew(world);
    const message = newMessage({ session_id: session, message: "Once" });
    for (let time = 0; time < 3; time++) {
      const read = await readEvents(await sendChat(url, token, { ...message, events: true }));
      expect(read).toMatchObject({ status: 200, isDone: true, events: [{ name: "state", data: byGrace }] });
    }
    expect((await sendChat(url, token, { ...message, message: "Another" })).status).toBe(409);
    expect((await follow(url, token, message)).status).toBe(204);
    expect((await cancel(url, token, message)).status).toBe(204);
    // Also once the companion has it again: it was never the companion's to answer.
    await world.release(session);
    const again = await readEvents(await sendChat(url, token, { ...message, events: true }));
    expect(again).toMatchObject({ isDone: true, text: "", events: [{ name: "state", data: { state: "companion" } }] });
    expect((await world.transcript(session)).filter((line) => line === "visitor: Once")).toHaveLength(1);
  });

  test("that was left before a word of its reply is theirs once it is sent again, and no model's after that", async () => {
    await using world = await openPeopleChat();
    const { server, companion } = world;
    const { mockLlm } = server;
    const session = uuid();
    await world.say("hello", { session_id: session });
    const message = newMessage({ session_id: session, message: "[[hang]] Are you there?", resume: false });
    const leaving = new AbortController();
    const left = sendChat(server.url, companion.embedToken, message, { signal: leaving.signal });
    await mockLlm.until(() => mockLlm.openRequests === 1);
    leaving.abort();
    await left.catch(() => null);
    await eventually(async () => (await world.transcript(session)).length === 3);
    await world.take(session);
    await world.write(session, "Good day.");
    const send = async () =>
      await readEvents(await sendChat(server.url, companion.embedToken, { ...message, events: true }));
    expect((await send()).events).toEqual([{ name: "state", data: byGrace }]);
    expect(await world.find(session)).toMatchObject({
      status: "open",
      owedSinceMs: expect.any(Number),
      dayMessages: 1,
    });
    expect((await send()).events).toEqual([{ name: "state", data: byGrace }]);
    expect((await world.find(session))?.dayMessages).toBe(1);
    await world.release(session);
    expect(await send()).toMatchObject({ isDone: true, text: "", events: [{ data: { state: "companion" } }] });
    expect(mockLlm.requests).toHaveLength(2);
    expect((await world.transcript(session)).slice(2)).toEqual([`visitor: ${message.message}`, "Grace: Good day."]);
  });

  test("comes in through a platform's door as well", async () => {
    await using world = await openPeopleChat();
    const session = await takeNew(world);
    const body = { message: "relayed", session_id: session };
    const relayed = await world.owner.call("POST", `/api/companions/${world.companion.id}/chat`, body);
    expect(relayed).toMatchObject({ status: 200, text: 'data: {"text":"Grace will read it."}\n\ndata: [DONE]\n\n' });
    expect(relayed.headers.get("x-session-id")).toBe(session);
    expect(await world.transcript(session)).toContain("visitor: relayed");
  });

  test("is refused where it is the 501st of the day, and no stop of spending holds it up", async () => {
    await using world = await openOneDay();
    const { store, clock } = world.server.services;
    const session = await takeNew(world);
    await store.spending.stop(world.companion.accountId, testContext());
    expect((await world.say("stopped", { session_id: uuid() })).status).toBe(503);
    expect((await world.say("the 500th", { session_id: session })).status).toBe(200);
    await store.handoffs.revise(
      {
        ...{
          conversation: { key: world.keyOf(session) },
          newConversationId: null,
          clientId: null,
          clientIdOf: "visitor",
        },
        ...{ arrivalMark: null, decide: () => ({ fields: { day: toUtcDay(clock.nowMs()), dayMessages: 500 } }) },
      },
      testContext(),
    );
    const refused = await sendChat(world.server.url, world.companion.embedToken, {
      ...{ message: "the 501st", session_id: session, events: true },
    });
    expect(refused.status).toBe(429);
    expect(await readProblem(refused)).toMatchObject({ code: "quota_exceeded" });
  });

  test("is no decision on a call: that is a conflict, and nothing is called", async () => {
    await using world = await openPeopleChat();
    await world.addTool({ name: "book", confirm: true });
    const session = uuid();
    const read = await world.say("[[call:book {}]]", { session_id: session });
    await world.take(session);
    const decided = await world.decide(String(read.events[0]?.data["call_id"]), true, { session_id: session });
    expect(decided.status).toBe(409);
    expect(world.calls).toEqual([]);
  });
});

describe("a turn under way", () => {
  test("ends where a person takes its conversation, and its part stands before what they write", async () => {
    await using world = await openPeopleChat();
    const session = uuid();
    await world.say("hello", { session_id: session });
    const reply = await sendChat(world.server.url, world.companion.embedToken, {
      ...{ message: "[[words:1000]][[delay:20]]", session_id: session, events: true },
    });
    await world.write(session, "I take over.");
    const read = await readEvents(reply);
    expect(read.isDone).toBe(false);
    expect(read.raw).toEndWith(": error taken\n\n");
    expect(read.events).toEqual([{ name: "state", data: byGrace }]);
    const lines = await world.transcript(session);
    expect(lines.slice(2)).toEqual([
      "visitor: [[words:1000]][[delay:20]]",
      `companion: ${read.text}…`,
      "Grace: I take over.",
    ]);
    await world.server.mockLlm.until(() => world.server.mockLlm.openRequests === 0);
  });

  test("that has said nothing yet becomes a message to the person, and is refunded; so do those that wait", async () => {
    await using world = await openOneDay();
    const { url } = world.server;
    const token = world.companion.embedToken;
    const session = uuid();
    await world.say("hello", { session_id: session });
    const { mockLlm } = world.server;
    const first = sendChat(url, token, { message: "[[hang]] first", session_id: session, events: true });
    await mockLlm.until(() => mockLlm.openRequests === 1);
    const named = newMessage({ session_id: session, message: "second" });
    const second = sendChat(url, token, { ...named, events: true });
    await eventually(() => world.server.services.coordination.turns.waitingCount === 1);
    await world.take(session);
    for (const answer of [first, second]) {
      const read = await readEvents(await answer);
      expect(read).toMatchObject({ status: 200, isDone: true, text: "", events: [{ name: "state", data: byGrace }] });
    }
    expect(await countDay(world)).toBe(1);
    expect(mockLlm.requests).toHaveLength(2);
    expect((await world.transcript(session)).slice(2)).toEqual(["visitor: [[hang]] first", "visitor: second"]);
    expect((await follow(url, token, named)).status).toBe(204);
  });

  test("that becomes a message to the person brings no words that one sent meanwhile has brought", async () => {
    await using world = await openPeopleChat();
    const { mockLlm, services } = world.server;
    const session = uuid();
    await world.say("hello", { session_id: session });
    const say = async (message: string) =>
      (await world.sayPlainly(message, { session_id: session, message_id: uuid() })).text;
    const { keepMessage } = services.people;
    let meanwhile = "";
    using _ = spyOn(services.people, "keepMessage").mockImplementationOnce(async (...message) => {
      const kept = await keepMessage(...message);
      await world.write(session, "Good day.");
      meanwhile = await say("second");
      return kept;
    });
    const first = say("[[hang]] first");
    await mockLlm.until(() => mockLlm.openRequests === 1);
    await world.take(session);
    expect([await first, meanwhile]).toEqual(["Grace will read it.", "Good day."]);
  });

  test("that finds the queue full or the day used up becomes a message to who has just taken the conversation", async () => {
    await using world = await openPeopleChat();
    const session = uuid();
    await world.say("hello", { session_id: session });
    const { turns } = world.server.services.coordination;
    for (const reason of ["queue_full", "day_used_up"] as const) {
      await world.release(session);
      using _ = spyOn(turns, "enter").mockImplementationOnce(async () => {
        await world.take(session);
        return { isAdmitted: false, reason, retryAfterSeconds: 1 };
      });
      const read = await world.say(reason, { session_id: session });
      expect(read).toMatchObject({ status: 200, isDone: true, text: "", events: [{ name: "state", data: byGrace }] });
    }
    expect((await world.transcript(session)).slice(2)).toEqual(["visitor: queue_full", "visitor: day_used_up"]);
  });

  test("ends by itself where the person waits for that, and its stream shows who has the conversation then", async () => {
    await using world = await openPeopleChat();
    const session = uuid();
    await world.say("hello", { session_id: session });
    const { mockLlm } = world.server;
    const reply = world.say("[[words:30]][[delay:20]]", { session_id: session });
    await mockLlm.until(() => mockLlm.openRequests === 1);
    expect(await world.take(session, { stop: false })).toMatchObject({ isTaken: false });
    const read = await reply;
    expect(read.isDone).toBe(true);
    expect(read.text.split(" ")).toHaveLength(31);
    expect(read.raw).toEndWith(`\n\ndata: [DONE]\n\n`);
    expect(read.events).toEqual([{ name: "state", data: byGrace }]);
    expect((await world.transcript(session)).at(-1)).toBe(`companion: ${read.text}`);
  });

  test("goes on where the visitor asks for a person meanwhile, whose is what they write after it", async () => {
    await using world = await openPeopleChat({}, { lookEveryMs: 5 });
    const { services, mockLlm } = world.server;
    const session = uuid();
    const reply = world.say("[[words:30]][[delay:20]]", { session_id: session });
    await mockLlm.until(() => mockLlm.openRequests === 1);
    const next = world.say("And?", { session_id: session });
    await eventually(() => services.coordination.turns.waitingCount === 1);
    const asked = await world.visitors.call("POST", `/api/embed/${world.companion.embedToken}/person`, {
      session_id: session,
    });
    expect(asked.json).toMatchObject({ state: "waiting" });
    // Rights are checked again after any change.
    const { accountId, id } = world.companion;
    await services.store.companions.update(accountId, id, { name: "Ada L." }, testContext());
    const read = await reply;
    expect([read.isDone, read.text.split(" ").length]).toEqual([true, 31]);
    // What waited meanwhile is the team's, too.
    for (const { events } of [read, await next]) {
      expect(events.map(({ name, data }) => [name, data["state"]])).toEqual([["state", "waiting"]]);
    }
    expect(mockLlm.requests).toHaveLength(1);
    expect((await world.transcript(session)).slice(2)).toEqual(["visitor: And?"]);
  });

  describe("whose visitor asks for a person meanwhile begins no further call of a provider:", () => {
    const waiting = { name: "state", data: expect.objectContaining({ state: "waiting" }) };
    const askIn = async ({ companion, keyOf, server: { services } }: PeopleChat, session: string) => {
      const of = { companion, key: keyOf(session), visitor: null, requestId: "request-1" };
      await services.people.ask({ ...of, arrivalMark: services.coordination.arrivals.mark() }, "visitor", null);
    };

    test("not the first: the message is the team's", async () => {
      await using world = await openOneDay();
      const session = uuid();
      await world.addTool();
      const { toolbox } = world.server.services;
      using _ = spyOn(toolbox, "open").mockImplementationOnce(async () => {
        await askIn(world, session);
        return [];
      });
      expect(await world.say("hello", { session_id: session })).toMatchObject({
        ...{ status: 200, isDone: true, text: "", events: [waiting] },
      });
      expect(world.server.mockLlm.requests).toEqual([]);
      expect(await world.transcript(session)).toEqual(["visitor: hello"]);
      expect(await countDay(world)).toBe(0);
    });

    test("not one behind its proof of work", async () => {
      await using world = await openPeopleChat({ challenge: "always" });
      const { server, companion } = world;
      const body = { message: "hello", session_id: uuid(), events: true };
      const work = solve(await readChallenge(await sendChat(server.url, companion.embedToken, body)));
      const { challenges } = server.services.store;
      const spend = challenges.spend.bind(challenges);
      using _ = spyOn(challenges, "spend").mockImplementationOnce(async (spent) => {
        await askIn(world, body.session_id);
        return await spend(spent);
      });
      const headers = { "content-type": "application/json", "x-challenge": work };
      const read = await readEvents(await sendChat(server.url, companion.embedToken, body, { headers }));
      expect(read).toMatchObject({ status: 200, isDone: true, text: "", events: [waiting] });
      expect(server.mockLlm.requests).toEqual([]);
    });

    test("not a retry", async () => {
      await using world = await openPeopleChat();
      const session = uuid();
      const { mockLlm } = world.server;
      mockLlm.respond(async (_, response) => {
        await askIn(world, session);
        response.send(503, { "Content-Type": "application/json" }, "{}");
      });
      expect(await world.say("hello", { session_id: session })).toMatchObject({
        ...{ status: 200, isDone: true, text: "", events: [waiting] },
      });
      expect(mockLlm.requests).toHaveLength(1);
      expect(await world.transcript(session)).toEqual(["visitor: hello"]);
    });

    test("not that of a later round: what its tools did stays, and the reply ends there", async () => {
      await using world = await openPeopleChat();
      const session = uuid();
      await world.addTool();
      world.answer(async () => {
        await askIn(world, session);
        return Response.json({ ok: true });
      });
      const read = await world.say("[[before:Let me see.]][[call:look_up {}]][[say:Found.]]", { session_id: session });
      expect(read).toMatchObject({ isDone: false, text: "Let me see." });
      expect(read.raw).toEndWith(": error taken\n\n");
      expect(world.server.mockLlm.requests).toHaveLength(1);
      expect((await world.transcript(session)).at(-1)).toBe("companion: Let me see.…");
    });
  });

  test("that fails before a word gives the conversation to who has reserved it", async () => {
    await using world = await openPeopleChat();
    const session = uuid();
    await world.say("hello", { session_id: session });
    const { mockLlm } = world.server;
    const gate = Promise.withResolvers<void>();
    mockLlm.respond(async (_, response) => {
      await gate.promise;
      response.send(400, { "Content-Type": "application/json" }, '{"error":{"message":"no"}}');
    });
    const reply = world.say("fails", { session_id: session });
    await mockLlm.until(() => mockLlm.openRequests === 1);
    expect(await world.take(session, { stop: false })).toMatchObject({ isTaken: false });
    gate.resolve();
    expect((await reply).status).toBe(502);
    await eventually(async () => (await world.find(session))?.state === "person");
    expect(await world.find(session)).toMatchObject({ person: grace });
  });

  test("and a take at the same instant: each message is answered or kept, never both and never neither", async () => {
    await using world = await openPeopleChat();
    const rounds = Array.from({ length: 12 }, async (_, round) => {
      const session = uuid();
      await world.say("hello", { session_id: session });
      const text = `[[words:${round}]] round ${round}`;
      const named = newMessage({ session_id: session, message: text });
      const message = round % 3 === 0 ? { message: text, session_id: session } : named;
      const events = round % 2 === 0;
      const [response] = await Promise.all([
        sendChat(world.server.url, world.companion.embedToken, { ...message, events }),
        world.take(session),
      ]);
      expect(response.status).toBe(200);
      const read = await readEvents(response);
      const [, , question, ...rest] = await world.transcript(session);
      expect(question).toBe(`visitor: ${message.message}`);
      // Kept: nothing else. Answered: whole, or the part that its reader got.
      const isKept = rest.length === 0;
      if (!isKept) expect(rest).toEqual([`companion: ${read.text}${read.isDone ? "" : "…"}`]);
      if (isKept && events) expect(read.events.at(-1)).toEqual({ name: "state", data: byGrace });
      if (isKept && !events) expect(read.text).toBe(read.isDone ? "Grace will read it." : "");
      expect((await world.find(session))?.state).toBe("person");
    });
    await Promise.all(rounds);
  });
});

describe("a model's tool for a person", () => {
  const ask = '[[call:ask_for_a_person {"reason":"Refund"}]]';

  test.each(["chat", "responses"])(
    "ends the reply with the server's words, and the conversation waits for a person (%s)",
    async (api) => {
      await using world = await openPeopleChat({}, { environment: { COMPANIOND_LLM_API: api } });
      const session = uuid();
      const read = await world.say(`[[before:Let me call someone.]]${ask}`, { session_id: session });
      expect(read).toMatchObject({ isDone: true, text: "Let me call someone.\n\nOne moment." });
      expect(read.events).toEqual([
        { name: "state", data: { ...byGrace, state: "waiting", person: null, reason: "asked" } },
      ]);
      const [sent, ...others] = world.server.mockLlm.requests;
      expect(others).toEqual([]);
      const name = "ask_for_a_person";
      expect(sent?.body["tools"]).toMatchObject([api === "chat" ? { function: { name } } : { name }]);
      expect((await world.transcript(session)).at(-1)).toBe("companion: Let me call someone.\n\nOne moment.");
      // What the visitor writes meanwhile waits, too.
      expect(await world.sayPlainly("And now?", { session_id: session })).toMatchObject({ text: "One moment." });
    },
  );

  test("is beside other tools, whose calls in the same breath are not made", async () => {
    await using world = await openPeopleChat();
    await world.addTool();
    const read = await world.say(`[[call:look_up {}]]${ask}`, { session_id: uuid() });
    expect(read.text).toBe("One moment.");
    expect(world.calls).toEqual([]);
    const asked = await world.say("[[call:look_up {}]][[say:Found.]]", { session_id: uuid() });
    expect(asked.text).toBe("Found.");
    expect(world.calls).toHaveLength(1);
  });

  test("is asked before the visitor is told so, even if nothing more is stored; the reply stands before what follows", async () => {
    await using world = await openPeopleChat();
    const session = uuid();
    const { turns } = world.server.services.store;
    const settle = turns.settle.bind(turns);
    let isBroken = true;
    turns.settle = (...turn) => (isBroken ? Promise.reject(new Error("The server stops.")) : settle(...turn));
    const read = await world.say(ask, { session_id: session });
    expect(read).toMatchObject({ isDone: false, text: "One moment." });
    expect(await world.find(session)).toMatchObject({ state: "waiting" });

    isBroken = false;
    const kept = uuid();
    await world.say(ask, { session_id: kept });
    expect(await world.find(kept)).toMatchObject({ state: "waiting", reachSeq: 2 });
    expect(await world.transcript(kept)).toEqual([`visitor: ${ask}`, "companion: One moment."]);
  });

  test("says so where no one is available, and the companion goes on", async () => {
    await using world = await openPeopleChat({ people: { when: "present" } });
    const session = uuid();
    const read = await world.say(ask, { session_id: session });
    expect(read).toMatchObject({ isDone: true, text: "No one is there.", events: [] });
    expect(await world.find(session)).toMatchObject({ state: "companion", status: "open" });
    expect((await world.say("hello", { session_id: session })).text).toBe("You said: hello");
  });

  test("is offered nowhere else: not without handoff, not where models may not ask, not in an owner's trial", async () => {
    await using world = await openPeopleChat({ people: { ask: ["visitor"] } });
    const { server, companion, owner } = world;
    await world.say("one", { session_id: uuid() });
    const plain = await server.createCompanion();
    await sendChat(server.url, plain.embedToken, { message: "two" }).then((response) => response.text());
    const patch = { handoff: { ask: ["model"] } };
    expect((await owner.call("PATCH", `/api/companions/${companion.id}`, patch)).status).toBe(200);
    await owner.call("POST", `/api/companions/${companion.id}/test-chat`, { message: "three" });
    await owner.call("POST", "/v1/chat/completions", {
      ...{ model: companion.id, messages: [{ role: "user", content: "four" }] },
    });
    expect(server.mockLlm.requests.map(({ body }) => body["tools"])).toEqual(Array(4).fill(undefined));
    await world.say("five", { session_id: uuid() });
    expect(server.mockLlm.requests.at(-1)?.body["tools"]).toHaveLength(1);
  });
});

test("a companion without handoff asks the store nothing of it", async () => {
  await using world = await openPeopleChat();
  const { server } = world;
  const handoffs = server.services.store.handoffs as { find: HandoffStore["find"] };
  const { find } = handoffs;
  let asked = 0;
  handoffs.find = (key) => {
    asked++;
    return find(key);
  };
  const plain = await server.createCompanion();
  const response = await sendChat(server.url, plain.embedToken, { ...newMessage(), events: true });
  expect((await readEvents(response)).raw).toEndWith('data: {"text":"hello"}\n\ndata: [DONE]\n\n');
  expect(asked).toBe(0);
  await world.say("hello", { session_id: uuid() });
  expect(asked).toBeGreaterThan(0);
});

test("where nothing is found a person is offered, to who reads events, and then the visitor may ask", async () => {
  await using world = await openPeopleChat({ answerMode: "grounded", people: { ask: ["no_answer"] } });
  const session = uuid();
  const ask = () =>
    world.visitors.call("POST", `/api/embed/${world.companion.embedToken}/person`, { session_id: session });
  await world.sayPlainly("Do you ship to Norway?", { session_id: session });
  expect((await ask()).status).toBe(409);
  const read = await world.say("Do you ship to Norway?", { session_id: session });
  expect(read.events).toEqual([{ name: "offer", data: {} }]);
  expect(read.raw).toEndWith("event: offer\ndata: {}\n\ndata: [DONE]\n\n");
  expect((await ask()).json).toMatchObject({ state: "waiting" });
});

test("a model reads who wrote, and that they have left", async () => {
  await using world = await openPeopleChat();
  const session = await takeNew(world);
  await world.write(session, "Your refund is on its way.");
  await world.say("Thank you", { session_id: session });
  await world.release(session);
  const companion = await world.server.services.store.companions.find(world.companion.accountId, world.companion.id);
  expect(companion?.hadPeople).toBe(true);
  await world.say("When?", { session_id: session });
  const sent = world.server.mockLlm.requests.at(-1)?.body["messages"] as { role: string; content: string }[];
  expect(sent).toEqual([
    { role: "user", content: "hello" },
    { role: "assistant", content: "You said: hello" },
    { role: "assistant", content: "Grace: Your refund is on its way." },
    { role: "user", content: "(Grace has left this conversation, and you answer it again.)" },
    { role: "user", content: "Thank you" },
    { role: "user", content: "When?" },
  ]);
});
