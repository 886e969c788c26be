/** What every storage engine must do with conversations that people step into. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Arrivals } from "../../src/contracts/coordination.ts";
import type {
  ConversationNote,
  ConversationQuery,
  HandoffChange,
  HandoffDecision,
  RevisionRequest,
} from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import {
  type ConversationKey,
  type HistoryMessage,
  type Message,
  textOf,
  textParts,
  uncounted,
} from "../../src/domain/conversation.ts";
import { maxNotes, type Person, stateConflict } from "../../src/domain/handoff.ts";
import { presentMs } from "../../src/domain/presence.ts";
import { toVerifiedId } from "../../src/domain/visitor.ts";
import { messagePageBytes } from "../../src/engines/store-shared/rows/bounds.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { dayMs } from "../../src/lib/instant.ts";
import { pause } from "../../src/lib/pause.ts";
import { eventually } from "../support/eventually.ts";
import { day, newApiKey, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

type NewMessage = NonNullable<HandoffChange["message"]>;

export function handoffStoreContract(open: OpenStore): void {
  let world: StoreWorld;
  let arrivals: Arrivals;
  let account: Account;
  let companion: Companion;
  let key: ConversationKey;
  beforeEach(async () => {
    world = await openWorld(async () => {
      const opened = await open();
      arrivals = opened.arrivals;
      return opened;
    });
    account = await world.createAccount();
    companion = await world.createCompanion(account);
    key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: systemIds.randomUuid() };
  });
  afterEach(() => world.close());

  const person = (name: string): Person => ({ id: systemIds.uuid(), name, memberId: null, keyId: null });

  async function inviteMember(name: string): Promise<Person> {
    const id = systemIds.uuid();
    const member = { id, name, email: `${id}@shop.example`, role: "responder", companionIds: null } as const;
    const invitation = {
      ...{ hash: systemIds.secret(16), kind: "invitation" as const, accountId: account.id, memberId: id },
      expiresAt: world.clock.nowMs() + dayMs,
    };
    await world.store.members.create(account.id, member, invitation, world.context());
    return { id, name, memberId: id, keyId: null };
  }

  function message(text: string, fields: Partial<Message> = {}): Message {
    const facts = { ...uncounted, channel: "text", complete: true, createdAt: world.clock.nowMs() } as const;
    return { id: systemIds.uuid(), role: "user", parts: textParts(text), ...facts, ...fields };
  }

  const revise = (decide: HandoffDecision, fields: Partial<RevisionRequest> = {}) =>
    world.store.handoffs.revise(
      {
        ...{ conversation: { key }, newConversationId: null, clientId: null, clientIdOf: "visitor", arrivalMark: null },
        ...{ decide, ...fields },
      },
      world.context({ actor: { kind: "visitor", id: null, ipPrefix: null, requestId: null } }),
    );

  const said = (text: string, clientId: string | null = null): NewMessage => {
    return { message: message(text), author: null, clientId, sealedVisitor: null };
  };

  const written = (text: string, author: Person, clientId: string = systemIds.randomUuid()): NewMessage => {
    return { message: message(text, { role: "assistant" }), author, clientId, sealedVisitor: null };
  };

  /** Settles a turn, which makes the conversation; returns its id. */
  async function talk(of: ConversationKey = key): Promise<string> {
    const turn = world.turnOf(companion, { key: of });
    await world.store.turns.settle(turn);
    return turn.conversationId;
  }

  const take =
    (by: Person): HandoffDecision =>
    ({ handoff }) => {
      if (handoff?.person != null) throw stateConflict("Somebody has this conversation.", handoff);
      return { fields: { state: "person", reason: "taken", person: by, sinceMs: world.clock.nowMs() } };
    };

  async function texts(conversationId: string, afterSeq = 0) {
    const { messages } = await world.store.handoffs.listLive(conversationId, afterSeq, 2_000);
    return messages.map(({ seq, message }) => `${seq} ${textOf(message)}`);
  }

  describe("records of people", () => {
    test("are missing until something is decided, and are then as it was decided", async () => {
      const { handoffs } = world.store;
      const conversationId = await talk();
      expect(await handoffs.find(key)).toBeNull();
      expect(await handoffs.findOf(account.id, conversationId)).toEqual({ key, handoff: null });
      const plain = { accountId: account.id, conversationId, newestSeq: 2, handoff: null };
      expect(await handoffs.findLive(key)).toEqual(plain);
      expect(await handoffs.findLive({ ...key, visitorId: null })).toBeNull();
      expect(await revise(() => null)).toMatchObject({ handoff: null, before: null, hasChanged: false });
      expect(await handoffs.find(key)).toBeNull();

      const ada = person("Ada");
      const fields = {
        ...{ state: "person", reason: "taken", person: ada, reserved: ada, sinceMs: 1, untilMs: 2, owedSinceMs: 3 },
        ...{ wasPresent: true, status: "open", assigneeId: ada.id, tags: ["b", "a"], reachSeq: 4, returnedAtMs: 5 },
        ...{ plainSeq: 6, seenSeq: 7, missedAtMs: 8, isResolved: false, day: "2026-01-15", dayMessages: 9 },
        ...{ isAsked: true, isOffered: true },
      } satisfies HandoffChange["fields"];
      const decided = await revise(({ handoff, newestSeq, ...on }) => {
        expect({ handoff, newestSeq, ...on }).toMatchObject({
          key,
          accountId: account.id,
          conversationId,
          newestSeq: 2,
        });
        return { fields };
      });
      const record = { conversationId, accountId: account.id, companionId: companion.id, ...fields };
      expect(await handoffs.findLive(key)).toEqual({ ...plain, handoff: await handoffs.find(key) });
      expect(decided).toMatchObject({
        key,
        conversationId,
        handoff: record,
        before: null,
        seq: null,
        hasChanged: true,
      });
      expect(await handoffs.find(key)).toMatchObject(record);
      expect((await handoffs.findOf(account.id, conversationId))?.handoff).toMatchObject(record);
      await revise(() => ({ fields: { isResolved: null, person: null, tags: [] } }));
      expect(await handoffs.find(key)).toMatchObject({ ...record, isResolved: null, person: null, tags: [] });
    });

    test("are noted at the companion with the first of them", async () => {
      const { companions } = world.store;
      await talk();
      const hadPeople = async () => (await companions.find(account.id, companion.id))?.hadPeople;
      expect(await hadPeople()).toBeFalse();
      await revise(() => ({ fields: { status: "open" } }));
      expect(await hadPeople()).toBeTrue();
    });

    test("may come before any message, but nothing is left of a decision against it", async () => {
      const { handoffs, conversations } = world.store;
      const newConversationId = systemIds.uuid();
      expect(await revise(() => ({ fields: { state: "waiting" } }))).toBeNull();
      await revise(() => null, { newConversationId });
      expect(await handoffs.findOf(account.id, newConversationId)).toBeNull();
      const refusal = revise(
        () => {
          throw stateConflict("No.", null);
        },
        { newConversationId },
      );
      await expect(refusal).rejects.toMatchObject({ code: "conflict" });
      expect(await handoffs.findOf(account.id, newConversationId)).toBeNull();

      await revise(() => ({ fields: { state: "waiting" } }), { newConversationId });
      expect(await handoffs.find(key)).toMatchObject({ state: "waiting", conversationId: newConversationId });
      await talk();
      const found = await conversations.find(account.id, newConversationId);
      expect(found?.messages.map(textOf)).toEqual(["Hello", "Hi there"]);
      expect(await texts(newConversationId)).toEqual(["1 Hello", "2 Hi there"]);
    });

    test("are found only through their account, and through no deleted companion", async () => {
      const { handoffs, companions } = world.store;
      const conversationId = await talk();
      await revise(() => ({ fields: { state: "waiting", untilMs: 5 } }));
      const other = await world.createAccount();
      expect(await handoffs.findOf(other.id, conversationId)).toBeNull();
      const conversation = { accountId: other.id, conversationId };
      expect(await revise(() => ({ fields: { status: "open" } }), { conversation })).toBeNull();
      await companions.delete(account.id, companion.id, world.context());
      expect(await handoffs.findOf(account.id, conversationId)).toBeNull();
      expect(await handoffs.findNextDue()).toBeNull();
      expect(await revise(() => ({ fields: { status: "open" } }))).toBeNull();
      const newConversationId = systemIds.uuid();
      expect(await revise(() => ({ fields: { status: "open" } }), { newConversationId })).toBeNull();
    });

    test("of two who take one at the same instant, one succeeds", async () => {
      const { handoffs } = world.store;
      for (let round = 0; round < 5; round++) {
        key = { ...key, sessionId: systemIds.randomUuid() };
        const conversationId = await talk();
        const people = [person("Ada"), person("Berta"), person("Cleo")];
        const conversation = { accountId: account.id, conversationId };
        const results = await Promise.allSettled(people.map((each) => revise(take(each), { conversation })));
        const winners = people.filter((_, at) => results[at]?.status === "fulfilled");
        expect(winners).toHaveLength(1);
        const [winner] = winners;
        expect((await handoffs.find(key))?.person).toEqual(winner ?? null);
        const refused = results.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
        for (const reason of refused) {
          expect(reason).toMatchObject({ code: "conflict", members: { state: "person", person: { id: winner?.id } } });
        }
      }
    });

    test("leave each message in exactly one world, whatever is taken and released meanwhile", async () => {
      const { handoffs, turns } = world.store;
      const conversationId = await talk();
      const ada = person("Ada");
      const conversation = { accountId: account.id, conversationId };
      const kept: string[] = [];
      const left: string[] = [];
      async function say(text: string): Promise<void> {
        const decide: HandoffDecision = ({ handoff }) => (handoff?.state === "person" ? { message: said(text) } : null);
        const revised = await revise(decide);
        if (revised?.hasChanged) {
          kept.push(text);
          return;
        }
        left.push(text);
        await turns.settle(world.turnOf(companion, { key, said: text, answered: `Re ${text}` }));
      }
      const change = (isTaken: boolean) =>
        revise(() => ({ fields: { state: isTaken ? "person" : "companion", person: isTaken ? ada : null } }), {
          conversation,
        });
      const all = Array.from({ length: 500 }, (_, at) => `m${at}`);
      await Promise.all(all.flatMap((text, at) => (at % 25 === 0 ? [change(at % 50 === 0), say(text)] : [say(text)])));

      expect([...kept, ...left].sort()).toEqual([...all].sort());
      expect(kept.length).toBeGreaterThan(0);
      expect(left.length).toBeGreaterThan(0);
      const stored = (await texts(conversationId)).slice(2).map((line) => line.split(" ").slice(1).join(" "));
      expect([...stored].sort()).toEqual([...all, ...left.map((text) => `Re ${text}`)].sort());
      for (const text of left) expect(stored[stored.indexOf(text) + 1]).toBe(`Re ${text}`);
      const { newestSeq } = await handoffs.listLive(conversationId, 0, 1);
      expect(newestSeq).toBe(2 + kept.length + 2 * left.length);
    });

    test("grow their change within the account in the order of commits", async () => {
      const { handoffs } = world.store;
      const keys = Array.from({ length: 12 }, () => ({ ...key, sessionId: systemIds.randomUuid() }));
      for (const each of keys) await talk(each);
      const seen: number[] = [];
      await Promise.all(
        keys.flatMap((each) =>
          [1, 2].map(async (status) => {
            const decide: HandoffDecision = () => ({ fields: { status: status === 1 ? "open" : "closed" } });
            const revised = await revise(decide, { conversation: { key: each } });
            const newest = (await handoffs.listSince(account.id, 0, 100, null)).at(-1)?.handoff.change ?? 0;
            const own = revised?.handoff?.change ?? 0;
            expect(newest).toBeGreaterThanOrEqual(own);
            seen.push(own);
          }),
        ),
      );
      expect(seen.sort((one, other) => one - other)).toEqual(Array.from({ length: 24 }, (_, at) => at + 1));
      const other = await world.createAccount();
      expect(await handoffs.listSince(other.id, 0, 100, null)).toEqual([]);
    });

    test("are listed since a change, page by page, only of the companions that are asked for", async () => {
      const { handoffs } = world.store;
      const sibling = await world.createCompanion(account);
      const keys = [companion, sibling, companion].map(({ id }) => ({
        ...key,
        companionId: id,
        sessionId: systemIds.randomUuid(),
      }));
      for (const each of keys) {
        const newConversationId = systemIds.uuid();
        await revise(() => ({ fields: { status: "open" } }), { conversation: { key: each }, newConversationId });
      }
      const first = await handoffs.listSince(account.id, 0, 2, null);
      expect(first.map((each) => each.key)).toEqual(keys.slice(0, 2));
      const rest = await handoffs.listSince(account.id, first[1]?.handoff.change ?? 0, 2, null);
      expect(rest.map((each) => each.key)).toEqual(keys.slice(2));
      const own = await handoffs.listSince(account.id, 0, 10, [companion.id]);
      expect(own.map((each) => each.key)).toEqual([keys[0], keys[2]] as ConversationKey[]);
    });

    test("are due in order, and held by companion, person and key", async () => {
      const { handoffs } = world.store;
      const ofKey = { ...person("Server"), id: "key-1:Server", keyId: "key-1" };
      const people = [person("Ada"), ofKey, person("Berta")];
      const keys = people.map(() => ({ ...key, sessionId: systemIds.randomUuid() }));
      for (const [at, each] of people.entries()) {
        const conversation = { key: keys[at] ?? key };
        const decide: HandoffDecision = () => ({ fields: { state: "person", person: each, untilMs: 300 - at * 100 } });
        await revise(decide, { conversation, newConversationId: systemIds.uuid() });
      }
      expect(await handoffs.findNextDue()).toBe(100);
      expect(await handoffs.listDue(99, 10)).toEqual([]);
      expect((await handoffs.listDue(200, 10)).map((each) => each.key)).toEqual([
        keys[2],
        keys[1],
      ] as ConversationKey[]);
      expect(await handoffs.listDue(200, 1)).toHaveLength(1);
      expect(await handoffs.listHeld({ companionId: companion.id }, 10)).toHaveLength(3);
      expect(await handoffs.listHeld({ personId: people[0]?.id ?? "" }, 10)).toEqual(keys.slice(0, 1));
      expect(await handoffs.listHeld({ keyId: "key-1" }, 10)).toEqual(keys.slice(1, 2));
      expect(await handoffs.listHeld({ keyId: "key" }, 10)).toEqual([]);
      await revise(() => ({ fields: { state: "companion", person: null, untilMs: null } }), {
        conversation: { key: keys[2] ?? key },
      });
      expect(await handoffs.findNextDue()).toBe(200);
      expect(await handoffs.listHeld({ companionId: companion.id }, 10)).toHaveLength(2);
      // What is reserved for them they are about to have.
      await revise(() => ({ fields: { reserved: ofKey } }), { conversation: { key: keys[2] ?? key } });
      expect(await handoffs.listHeld({ keyId: "key-1" }, 10)).toHaveLength(2);
      expect(await handoffs.listHeld({ companionId: companion.id }, 10)).toHaveLength(2);
    });

    test("are written with their audit entry, history, events and response in one commit, or not at all", async () => {
      const { handoffs, audit, idempotency } = world.store;
      const conversationId = await talk();
      const ada = person("Ada");
      const slot = { accountId: account.id, method: "POST", path: "/take", key: "one" };
      const idempotent = { slot, bodyHash: "hash", status: 200, body: "{}" };
      const request = {
        ...{ conversation: { accountId: account.id, conversationId }, newConversationId: null, clientId: null },
        ...{ clientIdOf: "person" as const, arrivalMark: null },
      };
      const context = world.context({ idempotent });
      const events = [
        { type: "asked", atMs: 1, by: { type: "visitor" }, sealedReason: "sealed" },
        { type: "taken", atMs: 2, by: { type: "person", person: ada }, sealedReason: null },
      ] as const;
      const details = { person: ada.id };
      const decide: HandoffDecision = () => ({
        ...{ fields: { state: "person", person: ada }, events, audit: { action: "conversation.take", details } },
      });
      await handoffs.revise({ ...request, decide }, context);
      const range = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
      const entries = async () => (await audit.list(account.id, range, { limit: 10, afterId: null })).items;
      const entry = { id: context.auditId, action: "conversation.take", targetId: conversationId, details };
      expect((await entries())[0]).toMatchObject(entry);
      expect(await idempotency.find(slot, world.clock.nowMs())).toMatchObject({ status: 200, body: "{}" });
      const first = await handoffs.listEvents(account.id, conversationId, { limit: 1, afterId: null });
      expect(first?.items).toMatchObject([events[1]]);
      const second = await handoffs.listEvents(account.id, conversationId, {
        limit: 1,
        afterId: first?.nextAfterId ?? "",
      });
      expect(second).toMatchObject({ items: [events[0]], nextAfterId: null });
      const oldest = await handoffs.listEvents(account.id, conversationId, { limit: 5, afterId: null, order: "asc" });
      expect(oldest?.items).toMatchObject([...events]);
      expect(
        await handoffs.listEvents((await world.createAccount()).id, conversationId, { limit: 1, afterId: null }),
      ).toBeNull();

      const before = await entries();
      const again = handoffs.revise({ ...request, decide }, world.context({ idempotent }));
      await expect(again).rejects.toMatchObject({ code: "conflict" });
      expect(await entries()).toEqual(before);
      expect((await handoffs.listEvents(account.id, conversationId, { limit: 5, afterId: null }))?.items).toHaveLength(
        2,
      );
    });
  });

  describe("messages of people", () => {
    test("stand in the order of commits, later than what was there, and with who wrote them", async () => {
      const { handoffs } = world.store;
      const conversationId = await talk();
      const ada = person("Ada");
      const named = systemIds.randomUuid();
      const atMs = world.clock.nowMs() - 60_000;
      const early = {
        ...written("At once.", ada, named),
        message: message("At once.", { role: "assistant", createdAt: atMs }),
      };
      expect(await revise(() => ({ message: early }))).toMatchObject({
        seq: 3,
        hasChanged: true,
      });
      const clientId = systemIds.randomUuid();
      expect(await revise(() => ({ message: said("Thanks", clientId) }))).toMatchObject({ seq: 4 });
      const { messages, newestSeq } = await handoffs.listLive(conversationId, 0, 10);
      expect(newestSeq).toBe(4);
      expect(messages.map(({ seq, author, clientId: name }) => [seq, author, name])).toEqual([
        [1, null, null],
        [2, null, null],
        [3, ada, named],
        [4, null, clientId],
      ]);
      const times = messages.map((each) => each.message.createdAt);
      expect(times).toEqual([...times].sort((one, other) => one - other));
      expect(new Set(times).size).toBe(4);
      expect(await texts(conversationId, 2)).toEqual(["3 At once.", "4 Thanks"]);
      expect((await handoffs.listLive(conversationId, 1, 2)).messages.map(({ seq }) => seq)).toEqual([2, 3]);
      expect(await handoffs.listLive(conversationId, 4, 10)).toEqual({ messages: [], newestSeq: 4 });
      expect(await handoffs.listLive(systemIds.uuid(), 0, 10)).toEqual({ messages: [], newestSeq: 0 });
    });

    test("are known by the client's name, the visitor's and people's apart", async () => {
      await talk();
      const clientId = systemIds.randomUuid();
      const known: (number | null)[] = [];
      const decide =
        (change: HandoffChange): HandoffDecision =>
        ({ knownSeq }) => {
          known.push(knownSeq);
          return knownSeq === null ? change : null;
        };
      const ofVisitor = { clientId, clientIdOf: "visitor" } as const;
      const ofPerson = { clientId, clientIdOf: "person" } as const;
      await revise(decide({ message: said("Mine", clientId) }), ofVisitor);
      await revise(decide({ message: written("Ours", person("Ada"), clientId) }), ofPerson);
      expect(await revise(decide({}), ofVisitor)).toMatchObject({ seq: 3, hasChanged: false });
      expect(await revise(decide({}), ofPerson)).toMatchObject({ seq: 4, hasChanged: false });
      expect(known).toEqual([null, null, 3, 4]);
      expect(await world.store.turns.findExchange(key, clientId)).toMatchObject({
        ...{ question: "Mine", replyId: null, isComplete: false, endCode: "taken" },
      });
    });

    test("of an exchange without a reply are left to people under the same name, those with one are not", async () => {
      const { turns } = world.store;
      const [unanswered, answered] = [systemIds.randomUuid(), systemIds.randomUuid()];
      await turns.settle(world.turnOf(companion, { key, messageId: answered }));
      const whole = world.turnOf(companion, { key, messageId: unanswered });
      const [question] = whole.messages;
      if (question === undefined) throw new Error("a turn without a question");
      await turns.settle({ ...whole, messages: [question], endCode: "abandoned" });
      const seen: (string | null)[] = [];
      const keep = (clientId: string) =>
        revise(
          ({ unansweredId }) => {
            seen.push(unansweredId);
            return unansweredId === null ? null : { fields: { status: "open" }, leavesKnown: true };
          },
          { clientId, clientIdOf: "visitor" },
        );
      expect(await keep(unanswered)).toMatchObject({ seq: 3, hasChanged: true, handoff: { status: "open" } });
      expect(await keep(unanswered)).toMatchObject({ seq: 3, hasChanged: false });
      expect(await keep(answered)).toMatchObject({ seq: 1, hasChanged: false });
      expect(seen).toEqual([question.id, null, null]);
      expect(await turns.findExchange(key, unanswered)).toMatchObject({ questionId: question.id, endCode: "taken" });
    });

    test("keep their seq over concurrent writers, and none is skipped", async () => {
      const { handoffs, turns } = world.store;
      const conversationId = await talk();
      const ada = person("Ada");
      const writers = Array.from({ length: 40 }, (_, at) =>
        at % 2 === 0
          ? turns.settle(world.turnOf(companion, { key, said: `t${at}` }))
          : revise(() => ({ message: written(`p${at}`, ada) })),
      );
      const seen = new Set<string>();
      const order: number[] = [];
      let after = 0;
      let isOver = false;
      const reading = (async () => {
        for (;;) {
          const wasOver = isOver;
          const { messages } = await handoffs.listLive(conversationId, after, 7);
          for (const { seq, message: each } of messages) {
            seen.add(each.id);
            order.push(seq);
          }
          after = messages.at(-1)?.seq ?? after;
          if (wasOver && messages.length === 0) return;
          await pause();
        }
      })();
      await Promise.all(writers);
      isOver = true;
      await reading;
      expect(order).toEqual(Array.from({ length: 62 }, (_, at) => at + 1));
      expect(seen.size).toBe(62);
    });

    test("are not kept of a visitor who was erased since the request arrived", async () => {
      const { conversations, handoffs } = world.store;
      await talk();
      const arrivalMark = arrivals.mark();
      await conversations.eraseVisitors(account.id, companion.id, [key.visitorId ?? ""], world.context());
      const newConversationId = systemIds.uuid();
      const kept = () => ({ fields: { state: "waiting" as const }, message: said("Me") });
      expect(await revise(kept, { arrivalMark, newConversationId })).toBeNull();
      expect(await handoffs.find(key)).toBeNull();
      expect(await revise(kept, { arrivalMark: arrivals.mark(), newConversationId })).toMatchObject({ seq: 1 });
    });

    test("go over to a verified visitor with the record and its deadline", async () => {
      const { conversations, handoffs } = world.store;
      const conversationId = await talk();
      const ada = person("Ada");
      await revise(() => ({ fields: { state: "person", person: ada, untilMs: 5 }, message: written("Hi", ada) }));
      const id = toVerifiedId(systemIds.secret(16));
      expect(await conversations.merge(key, { id, sealed: "sealed" })).toBeTrue();
      const own = { ...key, visitorId: id };
      expect(await handoffs.find(key)).toBeNull();
      expect(await handoffs.find(own)).toMatchObject({ state: "person", person: ada, untilMs: 5, conversationId });
      expect((await handoffs.listDue(5, 1)).map((each) => each.key)).toEqual([own]);
      expect(await texts(conversationId, 2)).toEqual(["3 Hi"]);
    });

    test("arrive whole where a transcript came after what was written during the call", async () => {
      const { handoffs, voice } = world.store;
      const calledAt = world.clock.nowMs();
      const conversationId = await talk();
      const session = {
        ...{ accountId: account.id, keyId: null, day, ticketId: null, reservationId: null, sealedVisitor: null },
        ...{ companionId: companion.id, sessionId: key.sessionId, visitorId: key.visitorId, createdAt: calledAt },
      };
      await voice.startSession({ ...session, providerConversationId: "call-1" });
      await revise(() => ({ message: said("Written") }));
      const spoken = ["Spoken", "Answered"].map((text, at) => {
        const role = at === 0 ? ("user" as const) : ("assistant" as const);
        return { id: systemIds.uuid(), role, text, complete: true, createdAt: calledAt - 10 + at };
      });
      await voice.addTranscript("call-1", systemIds.uuid(), spoken, null);
      expect(await texts(conversationId, 3)).toEqual(["4 Spoken", "5 Answered"]);
      expect(await texts(conversationId, 1)).toEqual(["2 Hi there", "3 Written", "4 Spoken", "5 Answered"]);
      expect((await handoffs.listLive(conversationId, 2, 1)).messages.map(({ seq }) => seq)).toEqual([3]);
    });

    test("come in fewer where they are long, and the first always does", async () => {
      const { handoffs } = world.store;
      const conversationId = await talk();
      const ada = person("Ada");
      for (const text of ["a", "b", "c"]) {
        await revise(() => ({ message: written(text.repeat(messagePageBytes - 1), ada) }));
      }
      const read = async (after: number) =>
        (await handoffs.listLive(conversationId, after, 10)).messages.map(({ seq }) => seq);
      expect(await read(2)).toEqual([3, 4]);
      expect(await read(4)).toEqual([5]);
    });

    test("are seen and read up to a place that never goes back, nor beyond what there is", async () => {
      const { handoffs } = world.store;
      const conversationId = await talk();
      expect(await handoffs.markSeen(key, 1)).toBeFalse();
      await revise(() => ({ fields: { status: "open" }, message: said("Three") }));
      expect(await handoffs.markSeen(key, 2)).toBeTrue();
      expect(await handoffs.markSeen(key, 1)).toBeFalse();
      expect((await handoffs.find(key))?.seenSeq).toBe(2);
      expect(await handoffs.markSeen(key, 9_999)).toBeTrue();
      expect((await handoffs.find(key))?.seenSeq).toBe(3);
      expect(await handoffs.markSeen({ ...key, visitorId: null }, 1)).toBeFalse();

      const unread = async (personId: string) =>
        (await handoffs.countUnread(account.id, [conversationId], personId)).get(conversationId);
      expect(await unread("ada")).toBe(2);
      expect(await handoffs.markRead(account.id, conversationId, "ada", 2)).toBeTrue();
      expect(await handoffs.markRead(account.id, conversationId, "ada", 1)).toBeFalse();
      expect(await unread("ada")).toBe(1);
      expect(await handoffs.markRead(account.id, conversationId, "ada", 9_999)).toBeTrue();
      expect(await unread("ada")).toBe(0);
      await revise(() => ({ message: said("Four") }));
      expect([await unread("ada"), await unread("berta")]).toEqual([1, 3]);
      expect(await handoffs.markRead((await world.createAccount()).id, conversationId, "ada", 4)).toBeFalse();
      await revise(() => ({ fields: { status: null } }));
      expect(await unread("ada")).toBeUndefined();
      await revise(() => ({ fields: { status: "open" } }));
      const { id } = await world.createAccount();
      expect((await handoffs.countUnread(id, [conversationId], "ada")).size).toBe(0);
    });
  });

  describe("conversations of people, as others read them", () => {
    const everything = { companionId: null, visitorId: null, fromMs: null, toMs: null, q: null };

    test("have their record in lists and alone, and who wrote what in their transcript", async () => {
      const { conversations } = world.store;
      const plainId = await talk({ ...key, sessionId: systemIds.randomUuid() });
      const conversationId = await talk();
      const ada = person("Ada");
      await revise(() => ({ fields: { status: "answered", tags: ["vip"] }, message: written("It is Ada.", ada) }));
      const page = await conversations.list(account.id, everything, { limit: 10, afterId: null });
      expect(page.items.map(({ id }) => id)).toEqual([conversationId, plainId]);
      expect(page.items[0]?.handoff).toMatchObject({ conversationId, status: "answered", tags: ["vip"] });
      expect(page.items[1]).not.toHaveProperty("handoff");
      const found = await conversations.find(account.id, conversationId);
      expect(found?.conversation.handoff).toMatchObject({ conversationId, status: "answered" });
      expect(found?.messages.map((each) => each.person ?? null)).toEqual([null, null, ada]);
      const plain = await conversations.find(account.id, plainId);
      expect(plain?.conversation).not.toHaveProperty("handoff");
      for (const each of plain?.messages ?? []) expect(each).not.toHaveProperty("person");
    });

    test("are found by state, status, assignee, tag, what is unread, and all of it at once", async () => {
      const { conversations, handoffs } = world.store;
      const ada = person("Ada");
      const records: HandoffChange["fields"][] = [
        { state: "waiting", status: "open", assigneeId: ada.id, tags: ["a", "b"] },
        { state: "person", person: ada, status: "answered", tags: ["b"] },
        { status: "closed", assigneeId: ada.id },
        { status: null, tags: ["a"] },
      ];
      const ids: string[] = [];
      for (const fields of records) {
        const conversation = { key: { ...key, sessionId: systemIds.randomUuid() } };
        ids.push(await talk(conversation.key));
        await revise(() => ({ fields: fields ?? {} }), { conversation });
        await talk({ ...key, sessionId: systemIds.randomUuid() });
      }
      await handoffs.markRead(account.id, ids[0] ?? "", "reader", 2);

      async function list(query: Partial<ConversationQuery>, order: "asc" | "desc" = "desc") {
        const found: number[] = [];
        for (let afterId: string | null = null; ; ) {
          const page = await conversations.list(account.id, { ...everything, ...query }, { limit: 1, afterId, order });
          found.push(...page.items.map(({ id }) => ids.indexOf(id)));
          for (const { handoff } of page.items) expect(handoff).toBeDefined();
          if (page.nextAfterId === null) return found;
          afterId = page.nextAfterId;
        }
      }
      expect(await list({ state: "waiting" })).toEqual([0]);
      expect(await list({ state: "person" })).toEqual([1]);
      expect(await list({ status: "closed" })).toEqual([2]);
      expect(await list({ assigneeId: ada.id })).toEqual([2, 0]);
      expect(await list({ assigneeId: ada.id }, "asc")).toEqual([0, 2]);
      expect(await list({ tag: "b" })).toEqual([1, 0]);
      expect(await list({ tag: "a" }, "asc")).toEqual([0, 3]);
      expect(await list({ unreadBy: "reader" })).toEqual([2, 1]);
      expect(await list({ unreadBy: "other" })).toEqual([2, 1, 0]);
      expect(await list({ status: "open", tag: "b", assigneeId: ada.id, state: "waiting" })).toEqual([0]);
      expect(await list({ status: "open", tag: "c" })).toEqual([]);
      expect(await list({ tag: "b", q: "hi there" })).toEqual([1, 0]);
      expect(await list({ tag: "b", q: "nowhere" })).toEqual([]);
      expect(await list({ tag: "b", companionId: (await world.createCompanion(account)).id })).toEqual([]);
      expect(await list({ tag: "b", visitorId: key.visitorId })).toEqual([1, 0]);
      expect(await list({ tag: "b", visitorId: systemIds.randomUuid() })).toEqual([]);
      expect(await list({ tag: "b", toMs: 1 })).toEqual([]);
      expect(await list({ rating: "up" })).toEqual([]);
      const since = await conversations.list(
        ...[account.id, { ...everything, tag: "b", updatedSinceMs: 0 }, { limit: 10, afterId: null }],
      );
      expect(since.items.map(({ id }) => ids.indexOf(id)).sort()).toEqual([0, 1]);
      const other = await world.createAccount();
      const none = await conversations.list(other.id, { ...everything, tag: "b" }, { limit: 10, afterId: null });
      expect(none).toEqual({ items: [], nextAfterId: null });
    });

    test("go on behind a conversation that was deleted", async () => {
      const { conversations } = world.store;
      const ids: string[] = [];
      for (let at = 0; at < 4; at++) {
        const conversation = { key: { ...key, sessionId: systemIds.randomUuid() } };
        ids.push(await talk(conversation.key));
        await revise(() => ({ fields: { status: "open" } }), { conversation });
      }
      const query = { ...everything, status: "open" } as const;
      const first = await conversations.list(account.id, query, { limit: 2, afterId: null });
      expect(first.nextAfterId).toBe(ids[2] ?? "");
      await conversations.delete(account.id, ids[2] ?? "", world.context());
      const rest = await conversations.list(account.id, query, { limit: 5, afterId: first.nextAfterId });
      expect(rest.items.map(({ id }) => id)).toEqual([ids[1], ids[0]] as string[]);
    });

    test("name in a history who wrote, where that is asked", async () => {
      const { turns } = world.store;
      const messageId = systemIds.randomUuid();
      await turns.settle(world.turnOf(companion, { key, messageId }));
      await revise(() => ({ message: written("Named", person("Ada")) }));
      await revise(() => ({ message: written("Nameless", { ...person("Ada"), name: null }) }));
      await revise(() => ({ message: said("Thanks") }));
      const shown = (messages: HistoryMessage[]) => messages.map(({ author, parts }) => [textOf({ parts }), author]);
      const people = [
        ["Thanks", undefined],
        ["Nameless", null],
        ["Named", "Ada"],
      ];
      const plain = [
        ["Hi there", undefined],
        ["Hello", undefined],
      ];
      expect(shown(await turns.listHistory(key, 1_000, { withAuthors: true }))).toEqual([...people, ...plain] as never);
      const except = await turns.listHistory(key, 1_000, { withAuthors: true, exceptMessageId: messageId });
      expect(shown(except)).toEqual(people as never);
      expect((await turns.listHistory(key, 8, { withAuthors: true })).map(textOf)).toEqual(["Thanks", "Nameless"]);
      expect((await turns.listHistory(key, 1_000)).every((each) => !("author" in each))).toBeTrue();
    });

    test("keep their places when a message is run again, or what stands beside them is erased", async () => {
      const { turns, conversations, handoffs } = world.store;
      const messageId = systemIds.randomUuid();
      const failed = world.turnOf(companion, { key, messageId, answered: null, endCode: "upstream_error" });
      await turns.settle(failed);
      const beside = { ...key, sessionId: systemIds.randomUuid(), visitorId: systemIds.randomUuid() };
      for (let at = 0; at < 120; at++)
        await turns.settle(world.turnOf(companion, { key: beside, said: "x".repeat(1_000) }));
      await revise(() => ({ message: said("Second") }));
      for (let at = 0; at < 120; at++)
        await turns.settle(world.turnOf(companion, { key: beside, said: "x".repeat(1_000) }));
      await revise(() => ({ message: written("Third", person("Ada")) }));
      const again = { key, messageId, isCounted: false, endCode: "upstream_error" } as const;
      await turns.settle({ ...world.turnOf(companion, again), messages: [] });
      expect(await turns.findExchange(key, messageId)).toMatchObject({ repeats: 1 });
      await conversations.eraseVisitors(account.id, companion.id, [beside.visitorId], world.context());
      const kept = ["1 Hello", "2 Second", "3 Third"];
      expect(await texts(failed.conversationId)).toEqual(kept);
      expect(await texts(failed.conversationId, 1)).toEqual(kept.slice(1));
      const { messages } = await handoffs.listLive(failed.conversationId, 2, 5);
      expect(messages[0]?.author?.name).toBe("Ada");
    });
  });

  describe("what is kept beside conversations of people", () => {
    test("are so many notes and no more", async () => {
      const { handoffs } = world.store;
      const conversationId = await talk();
      const add = () => {
        const note = { id: systemIds.uuid(), author: person("Ada"), sealedText: "sealed", createdAt: 1 };
        return handoffs.addNote(account.id, conversationId, note, world.context());
      };
      for (let at = 0; at < maxNotes; at++) await add();
      await expect(add()).rejects.toMatchObject({ code: "limit_reached" });
    });

    test("are notes of the team, oldest first, each deleted by itself, and both audited", async () => {
      const { handoffs, audit } = world.store;
      const conversationId = await talk();
      const ada = person("Ada");
      const notes = [1, 2].map((at) => ({
        id: systemIds.uuid(),
        author: ada,
        sealedText: `sealed ${at}`,
        createdAt: at,
      }));
      for (const note of notes) {
        expect(await handoffs.addNote(account.id, conversationId, note, world.context())).toBeTrue();
      }
      expect(await handoffs.listNotes(account.id, conversationId)).toEqual(notes);
      const other = await world.createAccount();
      expect(await handoffs.listNotes(other.id, conversationId)).toEqual([]);
      const [first] = notes;
      const stray = { ...notes[0], id: systemIds.uuid() } as ConversationNote;
      expect(await handoffs.addNote(other.id, conversationId, stray, world.context())).toBeFalse();
      expect(await handoffs.deleteNote(other.id, conversationId, first?.id ?? "", world.context())).toBeFalse();
      expect(await handoffs.deleteNote(account.id, conversationId, first?.id ?? "", world.context())).toBeTrue();
      expect(await handoffs.deleteNote(account.id, conversationId, first?.id ?? "", world.context())).toBeFalse();
      expect(await handoffs.listNotes(account.id, conversationId)).toEqual(notes.slice(1));
      const range = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
      const { items } = await audit.list(account.id, range, { limit: 10, afterId: null });
      const own = items.filter(({ action }) => action === "conversation.note");
      expect(own.map(({ targetId }) => targetId)).toEqual([conversationId, conversationId, conversationId]);
      expect(JSON.stringify(own)).not.toContain("sealed");
    });

    test("is who is present: members while their dashboard is seen, a key until its time", async () => {
      const { handoffs, apiKeys } = world.store;
      const [ada, berta] = [await inviteMember("Ada"), await inviteMember("Berta")];
      const apiKey = await apiKeys.create(account.id, newApiKey(), world.context());
      const server: Person = { ...person("Server"), id: `${apiKey.id}:Server`, keyId: apiKey.id };
      const nobody = { companionIds: null, seenAtMs: null, untilMs: null };
      await handoffs.setPresence(account.id, { ...nobody, person: ada, isAvailable: true });
      await handoffs.setPresence(account.id, { ...nobody, person: berta, isAvailable: false });
      await handoffs.setPresence(account.id, { ...nobody, person: server, isAvailable: true, untilMs: 500_000 });
      const names = async (nowMs: number) =>
        (await handoffs.listPresent(account.id, nowMs)).map((each) => each.person.name).sort();
      expect(await names(400_000)).toEqual(["Server"]);
      await handoffs.recordSeen([ada.id, berta.id, systemIds.uuid()], 400_000);
      expect(await names(400_000 + presentMs - 1)).toEqual(["Ada", "Server"]);
      expect(await names(400_000 + presentMs)).toEqual(["Server"]);
      expect(await names(500_000)).toEqual([]);
      // Seen once, whatever the switch does.
      await handoffs.setPresence(account.id, { ...nobody, person: ada, isAvailable: false });
      expect(await handoffs.findPresence(account.id, ada.id)).toMatchObject({ isAvailable: false, seenAtMs: 400_000 });
      expect(await names(400_000)).toEqual(["Server"]);
      await apiKeys.revoke(account.id, apiKey.id, world.context(), systemIds.uuid);
      expect(await names(400_000)).toEqual([]);
      const other = await world.createAccount();
      expect(await handoffs.areUsed(account.id)).toBe(false);
      await revise(() => ({ fields: { status: "open" } }), { newConversationId: systemIds.uuid() });
      expect([await handoffs.areUsed(other.id), await handoffs.areUsed(account.id)]).toEqual([false, true]);
      expect(await handoffs.findPresence(other.id, ada.id)).toBeNull();
      await handoffs.setPresence(other.id, { ...nobody, person: ada, isAvailable: true });
      expect(await handoffs.findPresence(account.id, ada.id)).toMatchObject({ isAvailable: false });
      expect(await handoffs.findPresence(other.id, ada.id)).toBeNull();
      expect(await handoffs.listPresent(other.id, 400_000)).toEqual([]);
    });

    test("is present with what a member is called and may see now, and no more once they are gone", async () => {
      const { handoffs, members } = world.store;
      const ada = await inviteMember("Ada");
      const own: Person = { id: account.id, name: "Old", memberId: account.id, keyId: null };
      for (const each of [ada, own]) {
        const presence = { person: each, isAvailable: true, companionIds: null, seenAtMs: 1_000, untilMs: null };
        await handoffs.setPresence(account.id, presence);
      }
      await members.update(account.id, ada.id, { name: "Ada L.", companionIds: [companion.id] }, world.context());
      const present = await handoffs.listPresent(account.id, 1_000);
      expect(present.find((each) => each.person.id === ada.id)).toMatchObject({
        ...{ person: { ...ada, name: "Ada L." }, companionIds: [companion.id] },
      });
      expect(present.find((each) => each.person.id === account.id)).toMatchObject({
        ...{ person: { ...own, name: null }, companionIds: null },
      });
      await members.remove(account.id, ada.id, world.context());
      expect((await handoffs.listPresent(account.id, 1_000)).map((each) => each.person.id)).toEqual([account.id]);
      // A request that was under way when they were removed.
      const late = { person: ada, isAvailable: true, companionIds: null, seenAtMs: 1_000, untilMs: null };
      await handoffs.setPresence(account.id, late);
      expect(await handoffs.findPresence(account.id, ada.id)).toBeNull();
      expect(await handoffs.listPresent(account.id, 1_000)).toHaveLength(1);
    });

    test("is known to have changed, message by message and decision by decision, or to be gone", async () => {
      const { handoffs, conversations } = world.store;
      const [quiet, busy, gone] = [{ ...key, sessionId: "q" }, key, { ...key, sessionId: "g" }];
      const ids = [await talk(quiet), await talk(busy), await talk(gone)];
      const known = ids.map((conversationId) => ({ conversationId, change: 0, newestSeq: 2 }));
      expect(await handoffs.listChanged(known)).toEqual([]);
      await conversations.delete(account.id, ids[2] ?? "", world.context());
      await talk(busy);
      const expected = [
        { conversationId: ids[1] ?? "", isGone: false },
        { conversationId: ids[2] ?? "", isGone: true },
      ];
      expect(await handoffs.listChanged(known)).toEqual(expected);
      const decided = await revise(() => ({ fields: { status: "open" } }));
      const now = { conversationId: ids[1] ?? "", change: decided?.handoff?.change ?? 0, newestSeq: 4 };
      expect(await handoffs.listChanged([now])).toEqual([]);
      expect(await handoffs.listChanged([{ ...now, change: 0 }])).toEqual(expected.slice(0, 1));
    });

    test("stands any order of turns, decisions, removals, merges and erasures at the same instant", async () => {
      const { handoffs, turns, conversations, members } = world.store;
      const id = toVerifiedId(systemIds.secret(16));
      const keys = Array.from({ length: 4 }, () => ({ ...key, sessionId: systemIds.randomUuid() }));
      const own = keys.map((each) => ({ ...each, visitorId: id }));
      const ada = await inviteMember("Ada");
      const decide: HandoffDecision = () => ({
        ...{ fields: { state: "person", person: ada, assigneeId: ada.id }, message: written("Hi", ada) },
        ...{ events: [{ type: "taken", atMs: 1, by: { type: "person", person: ada }, sealedReason: null }] },
      });
      const work = [...keys, ...own].flatMap((each, at) => [
        () => turns.settle(world.turnOf(companion, { key: each })),
        () => revise(decide, { conversation: { key: each }, newConversationId: systemIds.uuid() }),
        () => revise(decide, { conversation: { key: each }, arrivalMark: arrivals.mark() }),
        () => handoffs.markSeen(each, 1),
        () => conversations.merge(keys[at % 4] ?? key, { id, sealed: "sealed" }),
        () => turns.settle(world.turnOf(companion, { key: each })),
        () => conversations.eraseVisitors(account.id, companion.id, [each.visitorId ?? ""], world.context()),
        () => revise(decide, { conversation: { key: each }, newConversationId: systemIds.uuid() }),
      ]);
      const some = Array.from({ length: work.length }, (_, at) => work[(at * 13) % work.length]);
      await Promise.all([...some.map((each) => each?.()), members.remove(account.id, ada.id, world.context())]);

      for (const each of [...keys, ...own]) {
        const handoff = await handoffs.find(each);
        if (handoff === null) continue;
        const { messages, newestSeq } = await handoffs.listLive(handoff.conversationId, 0, 1_000);
        expect(messages.map(({ seq }) => seq)).toEqual(Array.from({ length: newestSeq }, (_, at) => at + 1));
      }
      await conversations.eraseVisitors(account.id, companion.id, [key.visitorId ?? "", id], world.context());
      expect(await handoffs.listSince(account.id, 0, 100, null)).toEqual([]);
    });

    test("goes with the conversation, its visitor, its retention, its companion and its account", async () => {
      const { handoffs, conversations, companions, accounts, feedback, mails } = world.store;
      const ada = person("Ada");
      const newMail = (conversationId: string) => ({
        ...{ id: systemIds.uuid(), accountId: account.id, companionId: companion.id, conversationId, memberId: null },
        ...({ kind: "answer", sealed: "sealed", createdAtMs: 1, dueAtMs: 9e12, expiresAtMs: null } as const),
      });
      const ends: ((id: string) => Promise<unknown>)[] = [
        (id) => conversations.delete(account.id, id, world.context()),
        () => conversations.eraseVisitors(account.id, companion.id, [key.visitorId ?? ""], world.context()),
        async () => {
          await companions.update(account.id, companion.id, { retentionDays: 1 }, world.context());
          expect(await conversations.deleteExpired(world.clock.nowMs() + 3 * dayMs, 10)).toBe(1);
        },
        () => companions.delete(account.id, companion.id, world.context()),
        () => accounts.delete(account.id, world.context()),
      ];
      for (const end of ends) {
        key = { ...key, visitorId: systemIds.randomUuid() };
        const conversationId = await talk();
        const by = { type: "person", person: ada } as const;
        await revise(() => ({
          fields: { state: "person", person: ada, untilMs: 5, status: "open" },
          events: [{ type: "taken", atMs: 1, by, sealedReason: null }],
          message: written("Hi", ada),
          contact: { sealed: "sealed", consentText: "Write to me.", consentedAt: 1 },
          mails: [newMail(conversationId)],
        }));
        const note = { id: systemIds.uuid(), author: ada, sealedText: "sealed", createdAt: 1 };
        await handoffs.addNote(account.id, conversationId, note, world.context());
        await handoffs.markRead(account.id, conversationId, ada.id, 1);
        await end(conversationId);

        await eventually(async () => {
          const { newestSeq } = await handoffs.listLive(conversationId, 0, 10);
          return newestSeq === 0;
        });
        expect(await handoffs.find(key)).toBeNull();
        expect(await handoffs.findOf(account.id, conversationId)).toBeNull();
        expect(await handoffs.findNextDue()).toBeNull();
        expect(await handoffs.listHeld({ personId: ada.id }, 10)).toEqual([]);
        expect(await handoffs.listSince(account.id, 0, 10, null)).toEqual([]);
        expect(await handoffs.listNotes(account.id, conversationId)).toEqual([]);
        expect(await feedback.findContact(account.id, conversationId)).toBeNull();
        expect(await mails.findNextDue()).toBeNull();
        expect(await handoffs.listEvents(account.id, conversationId, { limit: 10, afterId: null })).toBeNull();
        expect((await handoffs.countUnread(account.id, [conversationId], ada.id)).size).toBe(0);
      }
    });
  });
}
