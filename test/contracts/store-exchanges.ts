/** What every storage engine must do with exchanges that a client has named, and with the days of verified visitors. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { SettledTurn } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { type ConversationKey, freeRepeats, textOf } from "../../src/domain/conversation.ts";
import { toVerifiedId } from "../../src/domain/visitor.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { day, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";
import type { TurnWords } from "../support/turn-messages.ts";

const dayUsage = { fromDay: day, toDay: day, groupBy: [], companionId: null, metadata: [] } as const;

export function exchangeStoreContract(open: OpenStore): void {
  let world: StoreWorld;
  let account: Account;
  let companion: Companion;
  let key: ConversationKey;
  let messageId: string;
  beforeEach(async () => {
    world = await openWorld(open);
    account = await world.createAccount();
    companion = await world.createCompanion(account);
    key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: systemIds.randomUuid() };
    messageId = systemIds.randomUuid();
  });
  afterEach(() => world.close());

  type Fields = Partial<SettledTurn> & Partial<TurnWords>;

  const settleNamed = (fields: Fields = {}) =>
    world.store.turns.settle(world.turnOf(companion, { key, messageId, ...fields }));

  /** The visitor's message is stored already. */
  function settleAgain(fields: Fields = {}): Promise<unknown> {
    const turn = world.turnOf(companion, { key, messageId, isCounted: false, ...fields });
    return world.store.turns.settle({ ...turn, messages: turn.messages.slice(1) });
  }

  async function listTexts(of = key): Promise<string[]> {
    return (await world.store.turns.listHistory(of, 10_000)).map(textOf).reverse();
  }

  describe("named exchanges", () => {
    test("are found as they were stored, how they ended included", async () => {
      const { turns } = world.store;
      const whole = world.turnOf(companion, { key, messageId, said: "What is a loom?", answered: "A machine." });
      await turns.settle(whole);
      const complete = { question: "What is a loom?", reply: "A machine.", isComplete: true, endCode: null };
      expect(await turns.findExchange(key, messageId)).toEqual({
        ...complete,
        conversationId: whole.conversationId,
        questionId: whole.messages[0]?.id ?? "",
        replyId: whole.messages[1]?.id ?? "",
        endedAtMs: whole.messages[1]?.createdAt ?? 0,
        repeats: 0,
      });

      const cutId = systemIds.randomUuid();
      const cut = world.turnOf(companion, { key, messageId: cutId, complete: false, endCode: "too_long" });
      await turns.settle(cut);
      expect(await turns.findExchange(key, cutId)).toMatchObject({ isComplete: false, endCode: "too_long" });

      const leftId = systemIds.randomUuid();
      const left = world.turnOf(companion, { key, messageId: leftId, answered: null, endCode: "cancelled" });
      await turns.settle(left);
      expect(await turns.findExchange(key, leftId)).toEqual({
        conversationId: whole.conversationId,
        questionId: left.messages[0]?.id ?? "",
        replyId: null,
        question: "Hello",
        reply: null,
        isComplete: false,
        endCode: "cancelled",
        endedAtMs: left.messages[0]?.createdAt ?? 0,
        repeats: 0,
      });
      expect(await turns.findExchange(key, messageId)).toMatchObject(complete);
    });

    test("are found in their own conversation only, and by nothing but their name", async () => {
      const { turns } = world.store;
      await settleNamed();
      await turns.settle(world.turnOf(companion, { key }));
      const sibling = await world.createCompanion(account);
      for (const other of [
        { ...key, visitorId: systemIds.randomUuid() },
        { ...key, visitorId: null },
        { ...key, sessionId: systemIds.randomUuid() },
        { ...key, companionId: sibling.id },
      ]) {
        await turns.settle(world.turnOf(companion, { key: other }));
        expect(await turns.findExchange(other, messageId)).toBeNull();
      }
      expect(await turns.findExchange(key, systemIds.randomUuid())).toBeNull();
      expect(await turns.findExchange(key, "")).toBeNull();
      expect(await turns.findExchange(key, messageId)).not.toBeNull();
    });

    test("that run again are stored with the question of the first time, and counted once", async () => {
      const { conversations, turns, usage } = world.store;
      const first = world.turnOf(companion, { key, messageId, said: "Are you there?", answered: null });
      await turns.settle({ ...first, endCode: "abandoned" });
      await turns.settle(world.turnOf(companion, { key, said: "Hello?", answered: "Yes?" }));
      await settleAgain({ answered: "I am." });
      expect(await listTexts()).toEqual(["Are you there?", "Hello?", "Yes?", "I am."]);
      const found = await turns.findExchange(key, messageId);
      expect(found).toMatchObject({ question: "Are you there?", reply: "I am.", isComplete: true, endCode: null });
      const stored = await conversations.find(account.id, first.conversationId);
      expect(stored?.conversation.messageCount).toBe(4);
      expect(await turns.countDay(companion.id, day)).toBe(2);
      // The tokens of the second run are paid for as well.
      expect(await usage.query(account.id, dayUsage)).toMatchObject([
        { messages: 2, inputTokens: 21, outputTokens: 9 },
      ]);
    });

    test("that run again for nothing change how they ended and how often they did, and nothing else", async () => {
      const { turns } = world.store;
      const atMs = world.clock.nowMs();
      await settleNamed({ said: "one", answered: null, endCode: "abandoned", atMs });
      await turns.settle(world.turnOf(companion, { key, said: "two", answered: "three" }));
      for (const [index, endCode] of (["cancelled", null, "unavailable", "unavailable", null] as const).entries()) {
        // A failure is noted, too, and it counts no message.
        await settleAgain({ answered: null, endCode, isCounted: false });
        const repeats = Math.min(freeRepeats, index + 1);
        const ended = { question: "one", reply: null, isComplete: false, endCode, endedAtMs: atMs, repeats };
        expect(await turns.findExchange(key, messageId)).toMatchObject(ended);
        expect(await listTexts()).toEqual(["one", "two", "three"]);
      }
      // Another time than the first ones, which counts.
      await settleAgain({ answered: "four", isCounted: true });
      expect(await turns.findExchange(key, messageId)).toMatchObject({ reply: "four", endCode: null });
      expect(await turns.countDay(companion.id, day)).toBe(3);
    });

    test("that are settled twice, as by a server that others had given up, are stored once", async () => {
      await settleNamed({ said: "once", answered: "first" });
      await settleNamed({ said: "once", answered: "second" });
      await settleAgain({ answered: "third" });
      expect(await listTexts()).toEqual(["once", "first"]);
      expect(await world.store.turns.findExchange(key, messageId)).toMatchObject({ reply: "first" });
    });

    test("whose question has gone meanwhile leave no reply behind", async () => {
      await settleAgain({ answered: "Too late." });
      await settleAgain({ answered: "Too late.", isCounted: true });
      expect(await listTexts()).toEqual([]);
      expect(await world.store.turns.findExchange(key, messageId)).toBeNull();
    });

    test("are left out of the history for their own second run, and of no other", async () => {
      const { turns } = world.store;
      await turns.settle(world.turnOf(companion, { key, said: "one", answered: "two" }));
      await settleNamed({ said: "three", answered: null });
      await turns.settle(world.turnOf(companion, { key, messageId: systemIds.randomUuid(), said: "four" }));
      const list = async (exceptMessageId = systemIds.randomUuid()) =>
        (await turns.listHistory(key, 10_000, { exceptMessageId })).map(textOf).reverse();
      expect(await list(messageId)).toEqual(["one", "two", "four", "Hi there"]);
      expect(await list()).toEqual(["one", "two", "three", "four", "Hi there"]);
      expect(await list(systemIds.randomUuid())).toEqual(await list());
    });

    test("that were erased or deleted are not found, and a second run under way does not bring them back", async () => {
      const { conversations, turns } = world.store;
      const first = world.turnOf(companion, { key, messageId, answered: null });
      await turns.settle(first);
      const again = world.turnOf(companion, { key, messageId, isCounted: false });
      await conversations.delete(account.id, first.conversationId, world.context());
      expect(await turns.findExchange(key, messageId)).toBeNull();
      await turns.settle({ ...again, messages: again.messages.slice(1) });
      expect(await listTexts()).toEqual([]);

      await settleNamed();
      await conversations.eraseVisitors(account.id, companion.id, [key.visitorId ?? ""], world.context());
      expect(await turns.findExchange(key, messageId)).toBeNull();
      await settleNamed({ said: "anew" });
      expect(await turns.findExchange(key, messageId)).toMatchObject({ question: "anew" });
    });

    test("past their companion's time are gone, their names with them", async () => {
      companion = await world.createCompanion(account, { retentionDays: 1 });
      key = { ...key, companionId: companion.id };
      await settleNamed();
      world.clock.advance(2 * 86_400_000);
      expect(await world.store.conversations.deleteExpired(world.clock.nowMs(), 10)).toBe(1);
      expect(await world.store.turns.findExchange(key, messageId)).toBeNull();
    });
  });

  describe("verified visitors", () => {
    const visitorId = toVerifiedId("digest-1");
    beforeEach(() => {
      key = { ...key, visitorId };
    });

    const settleOf = (fields: Fields = {}) =>
      world.store.turns.settle(world.turnOf(companion, { key, visitor: { sealed: "s", isLimited: true }, ...fields }));
    const countOf = (id = visitorId, on = day) => world.store.turns.countVisitorDay(companion.id, id, on);

    test("are known by what their latest token said, which a turn without one leaves", async () => {
      const { conversations, turns } = world.store;
      const first = world.turnOf(companion, { key, visitor: { sealed: "sealed one", isLimited: false } });
      await turns.settle(first);
      const find = async () => (await conversations.find(account.id, first.conversationId))?.conversation;
      expect(await find()).toMatchObject({ visitorId, sealedVisitor: "sealed one" });
      await settleOf({ visitor: { sealed: "sealed two", isLimited: false }, messageId });
      expect(await find()).toMatchObject({ sealedVisitor: "sealed two" });
      await settleOf({ visitor: null });
      expect(await find()).toMatchObject({ sealedVisitor: "sealed two", messageCount: 6 });
      const query = { companionId: companion.id, visitorId, fromMs: null, toMs: null, q: null };
      const { items } = await conversations.list(account.id, query, { limit: 5, afterId: null });
      expect(items).toMatchObject([{ id: first.conversationId, visitorId, sealedVisitor: "sealed two" }]);
    });

    test("have a day of their own where they are limited, in which a second run does not count", async () => {
      await settleOf({ visitor: { sealed: "s", isLimited: false } });
      expect(await countOf()).toBe(0);
      await settleOf();
      await settleOf({ key: { ...key, sessionId: systemIds.randomUuid() }, messageId, answered: null });
      await settleAgain({ visitor: { sealed: "s", isLimited: true } });
      await settleOf({ key: { ...key, visitorId: toVerifiedId("digest-2") } });
      await settleOf({ day: "2026-01-16" });
      expect(await countOf()).toBe(2);
      expect(await countOf(toVerifiedId("digest-2"))).toBe(1);
      expect(await countOf(visitorId, "2026-01-16")).toBe(1);
      expect(await countOf(visitorId, "2026-01-14")).toBe(0);
    });

    test("lose their days when they are erased, also to a turn under way, and with their companion", async () => {
      const { companions, conversations } = world.store;
      const otherId = toVerifiedId("digest-2");
      await settleOf();
      await settleOf({ day: "2026-01-14" });
      await settleOf({ key: { ...key, visitorId: otherId } });
      const underWay = world.turnOf(companion, { key, visitor: { sealed: "s", isLimited: true } });
      await conversations.eraseVisitors(account.id, companion.id, [visitorId], world.context());
      await world.store.turns.settle(underWay);
      expect(await Promise.all([countOf(), countOf(visitorId, "2026-01-14"), countOf(otherId)])).toEqual([0, 0, 1]);
      await settleOf();
      expect(await countOf()).toBe(1);

      const late = world.turnOf(companion, { key, visitor: { sealed: "s", isLimited: true } });
      await companions.delete(account.id, companion.id, world.context());
      await world.store.turns.settle({ ...late, day: "2026-01-20" });
      expect(await countOf(visitorId, "2026-01-20")).toBe(0);
    });

    test("are forgotten with their days of long ago, but not for a day that a wrong clock told", async () => {
      for (const told of [day, "2027-06-01", "2028-06-01"]) await settleOf({ day: told });
      await settleOf();
      expect(await countOf()).toBe(2);
      const days = ["2028-06-02", "2028-06-03", "2028-06-04", "2028-06-05"];
      for (const counted of days) {
        for (const id of ["digest-2", "digest-3"]) {
          await settleOf({ day: counted, key: { ...key, visitorId: toVerifiedId(id) } });
        }
      }
      expect(await countOf()).toBe(0);
      const counts = await Promise.all(days.map((counted) => countOf(toVerifiedId("digest-2"), counted)));
      expect(counts).toEqual([0, 1, 1, 1]);
    });
  });
}
