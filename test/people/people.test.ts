import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Taken } from "../../src/core/people/people.ts";
import { textOf } from "../../src/domain/conversation.ts";
import type { Handoff, HandoffSettings, Person } from "../../src/domain/handoff.ts";
import { apiClient } from "../support/api-client.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { sendChat } from "../support/chat.ts";
import {
  conversationOf,
  createPeopleWorld,
  handoffSettings,
  type PeopleConversation,
  type PeopleWorld,
  personOf,
  placesOf,
} from "../support/people-world.ts";
import { sayOnCommand } from "../support/resumed-chat.ts";

let server: TestServer;
let world: PeopleWorld;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());
let ada: Person;
let bob: Person;
beforeEach(async () => {
  server.mockLlm.respond(null);
  await use();
});

async function use(handoff: Partial<HandoffSettings> = {}): Promise<void> {
  world = await createPeopleWorld(server, handoff);
  [ada, bob] = [personOf(world.keyId, "Ada"), personOf(world.keyId, "Bob")];
}

const change = expect.any(Number);
const now = { stop: true, from: null };
const find = ({ key }: Pick<PeopleConversation, "key">) => server.services.store.handoffs.find(key);
const readAll = async ({ id }: PeopleConversation) => {
  const { messages } = await server.services.store.handoffs.listLive(id, 0, 100);
  return messages.map(({ seq, message, author }) => [seq, author?.name ?? message.role, textOf(message)]);
};
const listLines = async ({ id }: PeopleConversation) => {
  const { accountId } = world.companion;
  const page = await server.services.store.handoffs.listEvents(accountId, id, {
    limit: 50,
    afterId: null,
    order: "asc",
  });
  return page?.items.map(({ type, by }) => `${type} by ${by.type === "person" ? by.person.name : by.type}`);
};
const listAudit = async () => {
  const range = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
  const page = await server.services.store.audit.list(world.companion.accountId, range, { limit: 50, afterId: null });
  return page.items.filter(({ action }) => action.startsWith("conversation."));
};
const keep = (conversation: PeopleConversation, text: string, fields: { messageId?: string; isPlain?: boolean } = {}) =>
  world.people.keepMessage(conversation.visitor, { text, messageId: null, isPlain: false, ...fields });
const say = (conversation: PeopleConversation, text: string, fields: { clientId?: string; afterSeq?: number } = {}) =>
  world.people.say(conversation.as(ada), { text, clientId: crypto.randomUUID(), afterSeq: null, ...fields });
const conflict = (members: object = {}) => expect.objectContaining({ code: "conflict", ...members });

describe("asking", () => {
  test("waits for a person, once, with the visitor as the audit's actor and without an address", async () => {
    const conversation = await world.begin();
    const untilMs = world.clock.nowMs() + 120_000;
    const asked = { state: "waiting", untilMs, isAvailable: true, reopensAtMs: null } as const;
    expect(await world.people.ask(conversation.visitor, "visitor", "Refund")).toEqual({
      ...asked,
      hasChanged: true,
      change,
    });
    world.clock.advance(5_000);
    expect(await world.others.ask(conversation.visitor, "model", null)).toEqual({
      ...asked,
      hasChanged: false,
      change,
    });
    expect(await listLines(conversation)).toEqual(["asked by visitor"]);
    expect(await listAudit()).toMatchObject([
      {
        ...{ action: "conversation.ask", targetId: conversation.id },
        actor: { kind: "visitor", id: null, ipPrefix: null, requestId: "request-1" },
      },
    ]);
  });

  test("its reason is sealed", async () => {
    const conversation = await world.begin();
    await world.people.ask(conversation.visitor, "visitor", "My card was charged twice");
    const { accountId, id } = world.companion;
    const page = await server.services.store.handoffs.listEvents(accountId, conversation.id, {
      limit: 1,
      afterId: null,
    });
    const sealed = page?.items[0]?.sealedReason ?? "";
    expect(sealed).not.toContain("card");
    expect(await server.services.sealing.open(`handoff reason ${id}`, sealed)).toBe("My card was charged twice");
  });

  test("may come before any message", async () => {
    const conversation = conversationOf(server, world.companion, world.clock);
    expect(await world.people.ask(conversation.visitor, "visitor", null)).toMatchObject({ state: "waiting" });
    const { conversationId } = (await find(conversation)) as Handoff;
    const place = { ...conversation, ...placesOf(conversation, conversationId) };
    expect(await say(place, "Hello, I am Ada.")).toEqual({ seq: 1, isRepeated: false });
  });

  test("where nobody is there leaves nobody waiting, and tells when it opens", async () => {
    await use({ when: "present" });
    const conversation = await world.begin();
    const missed = { state: "companion", untilMs: null, isAvailable: false, reopensAtMs: null } as const;
    expect(await world.people.ask(conversation.visitor, "visitor", null)).toEqual({
      ...missed,
      hasChanged: true,
      change,
    });
    expect(await world.people.ask(conversation.visitor, "visitor", null)).toEqual({
      ...missed,
      hasChanged: false,
      change,
    });
    expect(await find(conversation)).toMatchObject({ state: "companion", status: "open", isAsked: true });
    expect(await listLines(conversation)).toEqual(["asked by visitor", "missed by visitor"]);
  });

  test("is refused where visitors may not, until a person was offered", async () => {
    await use({ ask: ["no_answer"] });
    const conversation = await world.begin();
    const ask = () => world.people.ask(conversation.visitor, "visitor", null);
    await expect(ask()).rejects.toEqual(conflict({ members: { state: "companion", person: null } }));
    await world.people.noteOffer(conversation.key);
    expect(await ask()).toMatchObject({ state: "waiting" });
  });

  test("ends with the visitor who goes back", async () => {
    const conversation = await world.begin();
    await world.people.ask(conversation.visitor, "visitor", null);
    await world.people.goBack(conversation.visitor);
    await world.people.goBack(conversation.visitor);
    expect(await find(conversation)).toMatchObject({ state: "companion", reason: "visitor", untilMs: null });
    expect(await listLines(conversation)).toEqual(["asked by visitor", "released by visitor"]);
  });
});

describe("availability", () => {
  const presence = { companionIds: null, isAvailable: true, seenAtMs: null, untilMs: null };

  test("needs somebody present, by the key's time or a dashboard that is open", async () => {
    await use({ when: "present" });
    const { accountId } = world.companion;
    const isAvailable = async () => (await world.people.availabilityOf(world.companion)).isAvailable;
    expect(await isAvailable()).toBe(false);
    const untilMs = world.clock.nowMs() + 60_000;
    await server.services.store.handoffs.setPresence(accountId, { ...presence, person: ada, untilMs });
    expect(await isAvailable()).toBe(true);
    world.clock.advance(60_000);
    expect(await isAvailable()).toBe(false);
  });

  test("outside hours tells when it opens again, unless it is always there", async () => {
    const hours = { timezone: "Europe/Berlin", week: {}, closed: [] };
    await use({ when: "hours", hours });
    expect(await world.people.availabilityOf(world.companion)).toEqual({ isAvailable: false, reopensAtMs: null });
    const daily = Object.fromEntries(
      ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].map((day) => [day, [["00:00", "24:00"]]]),
    );
    const handoff = { ...handoffSettings, when: "hours", hours: { ...hours, week: daily } } as const;
    const open = { isAvailable: true, reopensAtMs: null };
    expect(await world.people.availabilityOf({ ...world.companion, handoff })).toEqual(open);
    const always = { ...handoffSettings, when: "always", hours } as const;
    expect(await world.people.availabilityOf({ ...world.companion, handoff: always })).toEqual(open);
  });
});

describe("taking", () => {
  test("of twenty at the same instant exactly one has it, and the others learn who", async () => {
    const conversation = await world.begin();
    const takers = Array.from({ length: 20 }, (_, at) => personOf(world.keyId, `Person ${at}`));
    const outcomes = await Promise.allSettled(
      takers.map((person, at) => (at % 2 ? world.people : world.others).take(conversation.as(person), now)),
    );
    const won = outcomes.filter((each): each is PromiseFulfilledResult<Taken> => each.status === "fulfilled");
    expect(won).toHaveLength(1);
    const holder = won[0]?.value.handoff.person;
    const refused = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    const person = { id: holder?.id, name: holder?.name };
    expect(refused).toEqual(Array(19).fill(conflict({ members: { state: "person", person } })));
    expect(await listLines(conversation)).toEqual([`taken by ${holder?.name}`]);
  });

  test("again is a success; from a colleague only by name", async () => {
    const conversation = await world.begin();
    const { handoff } = await world.people.take(conversation.as(ada), now);
    expect((await world.others.take(conversation.as(ada), now)).handoff).toEqual(handoff);
    await expect(world.people.take(conversation.as(bob), { ...now, from: "somebody" })).rejects.toEqual(conflict());
    const taken = await world.people.take(conversation.as(bob), { ...now, from: ada.id });
    expect(taken.handoff).toMatchObject({ state: "person", person: bob });
    await expect(world.people.release(conversation.as(ada), { close: false, from: null })).rejects.toEqual(conflict());
    await world.people.release(conversation.as(ada), { close: false, from: bob.id });
    expect(await find(conversation)).toMatchObject({ state: "companion", reason: "released", person: null });
  });

  test("in mode asked needs an ask, a missed one included", async () => {
    await use({ mode: "asked", when: "present" });
    const conversation = await world.begin();
    await expect(world.people.take(conversation.as(ada), now)).rejects.toEqual(conflict());
    await world.people.ask(conversation.visitor, "visitor", null);
    expect(await world.people.take(conversation.as(ada), now)).toMatchObject({ isTaken: true });
  });

  test("tells the turn under way at once, and answers when its part is kept: people write behind it", async () => {
    const conversation = await world.begin();
    const provider = sayOnCommand(server, ["One ", "two"]);
    const asked = { message: "Count", session_id: conversation.key.sessionId };
    provider.say(1);
    const streaming = await sendChat(server.url, world.companion.embedToken, asked);
    let isTold = false;
    const told = Promise.withResolvers<void>();
    const forget = world.people.onTaken(conversation.key, () => told.resolve());
    const saying = say(conversation, "I am Ada.").finally(() => {
      isTold = true;
    });
    await told.promise;
    expect(await find(conversation)).toMatchObject({ state: "person", person: ada, reachSeq: 2 });
    expect(isTold).toBe(false);
    provider.say();
    await streaming.text();
    expect(await saying).toEqual({ seq: 5, isRepeated: false });
    forget();
    expect((await readAll(conversation)).slice(2)).toEqual([
      ...[
        [3, "user", "Count"],
        [4, "assistant", "One two"],
        [5, "Ada", "I am Ada."],
      ],
    ]);
    // Whoever listens from now on reads on behind the reply.
    expect(await find(conversation)).toMatchObject({ reachSeq: 4, status: "answered" });
  });

  test("without stop is reserved until the reply ends", async () => {
    const conversation = await world.begin();
    const provider = sayOnCommand(server, ["One ", "two"]);
    const asked = { message: "Count", session_id: conversation.key.sessionId };
    provider.say(1);
    const streaming = await sendChat(server.url, world.companion.embedToken, asked);
    const later = { stop: false, from: null };
    expect(await world.people.take(conversation.as(ada), later)).toMatchObject({
      ...{ isTaken: false, handoff: { state: "companion", reserved: ada } },
    });
    expect(await world.others.take(conversation.as(ada), later)).toMatchObject({ isTaken: false });
    await expect(world.others.take(conversation.as(bob), now)).rejects.toEqual(
      conflict({ members: { state: "companion", person: { id: ada.id, name: ada.name } } }),
    );
    // Not before: the reply is still under way.
    world.clock.advance(20_000);
    await world.check();
    expect(await find(conversation)).toMatchObject({ state: "companion", reserved: ada });
    provider.say();
    await streaming.text();
    expect(await world.people.noteTurn(conversation.visitor)).toMatchObject({
      ...{ state: "person", person: ada, reserved: null, reachSeq: 4 },
    });
    expect(await listLines(conversation)).toEqual(["taken by Ada"]);
  });

  test("a reservation whose server has died is kept by the clock", async () => {
    const conversation = await world.begin();
    const provider = sayOnCommand(server, ["One ", "two"]);
    const asked = { message: "Count", session_id: conversation.key.sessionId };
    provider.say(1);
    const streaming = await sendChat(server.url, world.companion.embedToken, asked);
    await world.people.take(conversation.as(ada), { stop: false, from: null });
    provider.say();
    await streaming.text();
    world.clock.advance(20_000);
    await world.check();
    expect(await find(conversation)).toMatchObject({ state: "person", person: ada });
  });

  test("without stop takes at once where no reply is under way", async () => {
    const conversation = await world.begin();
    const taken = await world.people.take(conversation.as(ada), { stop: false, from: null });
    expect(taken).toMatchObject({ isTaken: true, handoff: { state: "person", person: ada } });
  });
});

describe("writing", () => {
  test("takes first, and where that fails writes nothing", async () => {
    const conversation = await world.begin();
    await world.people.take(conversation.as(bob), now);
    await expect(say(conversation, "Me too")).rejects.toEqual(conflict());
    expect(await readAll(conversation)).toHaveLength(2);
  });

  test("is the same message again by its client_id, and refused with another text", async () => {
    const conversation = await world.begin();
    const clientId = crypto.randomUUID();
    const all = await Promise.all([1, 2, 3].map(() => say(conversation, "Once", { clientId })));
    expect(all.map(({ seq }) => seq)).toEqual([3, 3, 3]);
    expect(all.filter(({ isRepeated }) => !isRepeated)).toHaveLength(1);
    await world.people.release(conversation.as(ada), { close: false, from: null });
    expect(await say(conversation, "Once", { clientId })).toEqual({ seq: 3, isRepeated: true });
    await expect(say(conversation, "Twice", { clientId })).rejects.toEqual(conflict());
    expect(await find(conversation)).toMatchObject({ state: "companion" });
  });

  test("is refused where a colleague wrote beyond what was read, with what they wrote", async () => {
    const conversation = await world.begin();
    const bobs = { text: "I am Bob.", clientId: crypto.randomUUID(), afterSeq: null };
    await world.people.say(conversation.as(bob), bobs);
    await world.people.release(conversation.as(bob), { close: false, from: null });
    const messages = [{ seq: 3, text: "I am Bob.", author: { type: "person", name: "Bob" } }];
    await expect(say(conversation, "I am Ada.", { afterSeq: 2 })).rejects.toMatchObject({
      code: "conflict",
      members: { messages },
    });
    expect(await find(conversation)).toMatchObject({ state: "companion" });
    expect(await say(conversation, "I am Ada.", { afterSeq: 3 })).toMatchObject({ seq: 4 });
    // What the visitor wrote is no colleague's.
    await keep(conversation, "Hello both");
    expect(await say(conversation, "Yes?", { afterSeq: 4 })).toMatchObject({ seq: 6 });
  });

  test("behind a visitor's many messages is not held up by what was read long ago", async () => {
    const conversation = await world.begin();
    await world.people.take(conversation.as(bob), now);
    for (let at = 0; at < 210; at++) await keep(conversation, `message ${at}`);
    await world.people.release(conversation.as(bob), { close: false, from: null });
    expect(await say(conversation, "I am Ada.", { afterSeq: 1 })).toEqual({ seq: 213, isRepeated: false });
  });

  test("of many at the same instant each message is kept once, in one order for everybody", async () => {
    const conversation = await world.begin();
    await world.people.take(conversation.as(ada), now);
    const said = await Promise.all(
      Array.from({ length: 12 }, async (_, at) =>
        at % 2 ? (await say(conversation, `person ${at}`)).seq : (await keep(conversation, `visitor ${at}`))?.seq,
      ),
    );
    expect(said.toSorted((one, other) => (one ?? 0) - (other ?? 0))).toEqual(
      Array.from({ length: 12 }, (_, at) => at + 3),
    );
    expect((await readAll(conversation)).map(([seq]) => seq)).toEqual(Array.from({ length: 14 }, (_, at) => at + 1));
  });
});

describe("a visitor's message outside of companion", () => {
  test("is kept once, and is the companion's where nobody has it", async () => {
    const conversation = await world.begin();
    expect(await keep(conversation, "Hello?")).toBeNull();
    await world.people.take(conversation.as(ada), now);
    const messageId = crypto.randomUUID();
    expect(await keep(conversation, "Hello?", { messageId })).toMatchObject({ seq: 3, handoff: { state: "person" } });
    expect(await keep(conversation, "Hello?", { messageId })).toMatchObject({ seq: 3 });
    expect(await readAll(conversation)).toHaveLength(3);
    await world.people.release(conversation.as(ada), { close: false, from: null });
    expect(await keep(conversation, "Anybody?")).toBeNull();
  });

  test("brings what people wrote to a client that knows no events, each message once", async () => {
    const conversation = await world.begin();
    await say(conversation, "One");
    await say(conversation, "Two");
    expect(await keep(conversation, "a", { isPlain: true })).toMatchObject({ texts: ["One", "Two"] });
    expect(await keep(conversation, "b", { isPlain: true })).toMatchObject({ texts: [] });
    await say(conversation, "Three");
    expect(await keep(conversation, "c")).toMatchObject({ texts: [] });
    expect(await keep(conversation, "d", { isPlain: true })).toMatchObject({ texts: ["Three"] });
  });

  test("brings it again where the client repeats its message, having lost the answer", async () => {
    const conversation = await world.begin();
    await say(conversation, "One");
    await keep(conversation, "a", { isPlain: true });
    await say(conversation, "Two");
    const messageId = crypto.randomUUID();
    expect(await keep(conversation, "b", { isPlain: true, messageId })).toMatchObject({ texts: ["Two"] });
    await say(conversation, "Three");
    for (let time = 0; time < 2; time++) {
      expect(await keep(conversation, "b", { isPlain: true, messageId })).toMatchObject({ texts: ["Two", "Three"] });
    }
    expect(await keep(conversation, "c", { isPlain: true })).toMatchObject({ texts: [] });
  });

  test("is either the person's or the companion's, however it races with a take and a release", async () => {
    const conversation = await world.begin();
    const kept: (number | null)[] = [];
    for (let round = 0; round < 5; round++) {
      const [first, , second] = await Promise.all([
        keep(conversation, `before ${round}`),
        world.people.take(conversation.as(ada), now),
        keep(conversation, `beside ${round}`),
      ]);
      const [third] = await Promise.all([
        keep(conversation, `behind ${round}`),
        world.people.release(conversation.as(ada), { close: false, from: null }),
      ]);
      kept.push(...[first, second, third].map((each) => each?.seq ?? null));
    }
    const seqs = kept.filter((seq) => seq !== null);
    expect(new Set(seqs).size).toBe(seqs.length);
    expect(await readAll(conversation)).toHaveLength(2 + seqs.length);
  });
});

describe("the clock", () => {
  test("an ask is missed when its time is over, also by another server", async () => {
    const conversation = await world.begin();
    await world.people.ask(conversation.visitor, "visitor", null);
    world.clock.advance(119_999);
    await world.check();
    expect(await find(conversation)).toMatchObject({ state: "waiting" });
    world.clock.advance(1);
    await Promise.all([world.check(), world.check()]);
    expect(await find(conversation)).toMatchObject({ state: "companion", reason: "missed", status: "open" });
    expect(await listLines(conversation)).toEqual(["asked by visitor", "missed by clock"]);
    expect(await listAudit()).toContainEqual(
      expect.objectContaining({
        ...{ action: "conversation.miss", targetId: conversation.id },
        actor: { kind: "clock", id: null, ipPrefix: null, requestId: null },
      }),
    );
  });

  test("silence of both sides gives it back, and each message begins it again", async () => {
    const conversation = await world.begin();
    await world.people.take(conversation.as(ada), now);
    for (const write of [() => keep(conversation, "Hm"), () => say(conversation, "Yes?")]) {
      world.clock.advance(29 * 60_000);
      await write();
      await world.check();
      expect(await find(conversation)).toMatchObject({ state: "person" });
    }
    world.clock.advance(30 * 60_000);
    await world.check();
    expect(await find(conversation)).toMatchObject({
      state: "companion",
      reason: "idle",
      returnedAtMs: world.clock.nowMs(),
    });
  });

  test("who was there and went away leaves the visitor to others, once, and then to the companion", async () => {
    const conversation = await world.begin();
    const { handoffs } = server.services.store;
    const presence = { person: ada, companionIds: null, isAvailable: true, seenAtMs: null };
    await handoffs.setPresence(world.companion.accountId, { ...presence, untilMs: world.clock.nowMs() + 60_000 });
    await world.people.take(conversation.as(ada), now);
    await keep(conversation, "Hello?");
    world.clock.advance(119_000);
    await world.check();
    expect(await find(conversation)).toMatchObject({ state: "person" });
    world.clock.advance(1_000);
    await world.check();
    expect(await find(conversation)).toMatchObject({ state: "waiting", person: null, status: "open" });
    world.clock.advance(120_000);
    await world.check();
    expect(await find(conversation)).toMatchObject({ state: "companion", reason: "missed" });
    expect(await listLines(conversation)).toEqual(["taken by Ada", "asked by clock", "missed by clock"]);
  });

  test("who is there may take their time, as may who never was", async () => {
    const conversation = await world.begin();
    await world.people.take(conversation.as(ada), now);
    await keep(conversation, "Hello?");
    world.clock.advance(10 * 60_000);
    await world.check();
    expect(await find(conversation)).toMatchObject({ state: "person" });
    const { handoffs } = server.services.store;
    const presence = { person: ada, companionIds: null, isAvailable: true, seenAtMs: null };
    await handoffs.setPresence(world.companion.accountId, { ...presence, untilMs: world.clock.nowMs() + 60_000 });
    await world.check();
    expect(await find(conversation)).toMatchObject({ state: "person" });
    world.clock.advance(60_000);
    await world.check();
    expect(await find(conversation)).toMatchObject({ state: "waiting" });
  });
});

describe("what ends with others", () => {
  test("conversations come back with the companion's handoff", async () => {
    const conversation = await world.begin();
    await world.people.take(conversation.as(ada), now);
    const { account } = world;
    const client = apiClient(server.url, (await server.createKey(account)).key);
    const changed = await client.call("PATCH", `/api/companions/${world.companion.id}`, { handoff: null });
    expect(changed.status).toBe(200);
    expect(await find(conversation)).toMatchObject({ state: "companion", reason: "released", person: null });
    expect(await listAudit()).toContainEqual(
      expect.objectContaining({ action: "conversation.release", actor: expect.objectContaining({ kind: "system" }) }),
    );
  });

  test("a take or ask that began before its companion's handoff became null takes nothing", async () => {
    const [taken, asked] = [await world.begin(), await world.begin()];
    const { id, accountId } = world.companion;
    await server.services.store.companions.update(accountId, id, { handoff: null }, testContext());
    const noHandoff = conflict({ members: { state: "companion", person: null } });
    await expect(world.people.take(taken.as(ada), now)).rejects.toEqual(noHandoff);
    await expect(say(taken, "Hello")).rejects.toEqual(noHandoff);
    expect(await world.people.ask(asked.visitor, "visitor", null)).toMatchObject({ state: "companion" });
    for (const one of [taken, asked]) expect(await find(one)).toMatchObject({ state: "companion", reason: "released" });
  });

  test("conversations come back with the key whose person has them, revoked by a route or past it", async () => {
    const { account } = world;
    const client = apiClient(server.url, (await server.createKey(account)).key);
    const { store, ids } = server.services;
    for (const isPast of [false, true]) {
      const conversation = await world.begin();
      const { id: keyId } = await server.createKey(account);
      const person = personOf(keyId, "Ada");
      await world.people.take(conversation.as(person), now);
      await world.check();
      expect(await find(conversation)).toMatchObject({ state: "person" });
      const { context } = conversation.as(ada);
      if (isPast) await store.apiKeys.revoke(account.id, keyId, context, ids.uuid);
      else expect((await client.call("DELETE", `/api/keys/${keyId}`)).status).toBe(204);
      if (isPast) await world.check();
      expect(await find(conversation)).toMatchObject({ state: "companion", reason: "released" });
    }
  });

  test("a conversation that is closed is the companion's again, and one that asks again is open", async () => {
    const conversation = await world.begin();
    await world.people.take(conversation.as(ada), now);
    const closed = await world.people.update(conversation.as(bob), { status: "closed", tags: ["VIP"] });
    expect(closed).toMatchObject({ state: "companion", reason: "closed", status: "closed", tags: ["vip"] });
    expect(await keep(conversation, "One more thing")).toBeNull();
    await world.people.ask(conversation.visitor, "visitor", null);
    expect(await find(conversation)).toMatchObject({ state: "waiting", status: "open" });
  });
});
