/** What every storage engine must do with turns: history, settling, quota. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { textOf, textParts } from "../../src/domain/conversation.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { answered, noUsage, unanswered } from "../support/answered.ts";
import { day, firstPage, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

const dayUsage = { fromDay: day, toDay: day, groupBy: [], companionId: null, metadata: [] } as const;
const anything = { companionId: null, visitorId: null, fromMs: null, toMs: null, q: null };

export function turnStoreContract(open: OpenStore): void {
  describe("turns", () => {
    let world: StoreWorld;
    let account: Account;
    let companion: Companion;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
      companion = await world.createCompanion(account);
    });
    afterEach(() => world.close());

    test("are kept with their conversation, usage and quota together", async () => {
      const { store } = world;
      const turn = world.turnOf(companion, { said: "What is a loom?", answered: "A weaving machine." });
      await store.turns.settle(turn);
      const second = world.turnOf(companion, { key: turn.key, said: "Since when?", complete: false });
      await store.turns.settle(second);

      const { items } = await store.conversations.list(account.id, anything, firstPage);
      const [conversation] = items;
      expect(items).toEqual([
        {
          id: turn.conversationId,
          ...turn.key,
          sealedVisitor: null,
          messageCount: 4,
          createdAt: turn.messages[0]?.createdAt ?? 0,
          updatedAt: second.messages[1]?.createdAt ?? 0,
        },
      ]);
      const found = await store.conversations.find(account.id, conversation?.id ?? "");
      const shared = { channel: "text", complete: true, inputTokens: null, outputTokens: null, tokensEstimated: false };
      expect(found?.messages.slice(0, 2)).toMatchObject([
        { ...shared, role: "user", parts: [{ type: "text", text: "What is a loom?" }] },
        {
          ...shared,
          role: "assistant",
          parts: [{ type: "text", text: "A weaving machine." }],
          inputTokens: 7,
          outputTokens: 3,
        },
      ]);
      expect(found?.messages).toEqual([...turn.messages, ...second.messages]);
      expect(found?.messages[3]).toMatchObject({ role: "assistant", complete: false });
      const sums = { ...noUsage, messages: 2, inputTokens: 14, outputTokens: 6 };
      expect(await store.usage.query(account.id, dayUsage)).toEqual([sums]);
      expect(await store.turns.countDay(companion.id, day)).toBe(2);
    });

    test("stay in the order in which they were settled, also when the clock was set back", async () => {
      const { store } = world;
      const first = world.turnOf(companion, { said: "one", answered: "two" });
      await store.turns.settle(first);
      for (const [said, answered] of [
        ["three", "four"],
        ["five", "six"],
      ] as const) {
        const atMs = (first.messages[0]?.createdAt ?? 0) - 3_600_000;
        const words = { said, answered, atMs, answeredAtMs: atMs + 2_000 };
        await store.turns.settle(world.turnOf(companion, { key: first.key, ...words }));
      }
      const history = await store.turns.listHistory(first.key, 1_000);
      expect(history.map(textOf)).toEqual(["six", "five", "four", "three", "two", "one"]);
      const found = await store.conversations.find(account.id, first.conversationId);
      expect(found?.messages.map(textOf)).toEqual(["one", "two", "three", "four", "five", "six"]);
      expect(found?.conversation.updatedAt).toBe(found?.messages.at(-1)?.createdAt ?? 0);
    });

    test("keep all that they made in the order of the list, also within one instant", async () => {
      const { store } = world;
      const turn = world.turnOf(companion, { said: "Which loom is wider?", answered: "Let me look." });
      const [question, first] = turn.messages;
      if (question === undefined || first === undefined) throw new Error("No messages were made.");
      const made = ["The one from", "Lyon."].map((text) => ({
        ...first,
        id: systemIds.uuid(),
        parts: textParts(text),
      }));
      const messages = [question, first, ...made];
      await store.turns.settle({ ...turn, messages });
      const found = await store.conversations.find(account.id, turn.conversationId);
      expect(found?.conversation.messageCount).toBe(4);
      expect(found?.messages).toEqual(messages);
      expect(await store.turns.countDay(companion.id, day)).toBe(1);
    });

    test("of a visitor who left are counted, and the message is kept without a reply", async () => {
      const { store } = world;
      const turn = world.turnOf(companion, { answered: null });
      await store.turns.settle(turn);
      const found = await store.conversations.find(account.id, turn.conversationId);
      expect(found?.conversation.messageCount).toBe(1);
      expect(found?.messages.map(textOf)).toEqual(["Hello"]);
      expect(await store.turns.countDay(companion.id, day)).toBe(1);
    });

    test("that the provider broke off count as errors", async () => {
      await world.store.turns.settle(world.turnOf(companion, { failure: "broken_off" }));
      expect(await world.store.usage.query(account.id, dayUsage)).toMatchObject([{ messages: 1, errors: 1 }]);
    });

    test("of a companion that was deleted meanwhile leave usage only", async () => {
      const { store } = world;
      const turn = world.turnOf(companion);
      await store.companions.delete(account.id, companion.id, world.context());
      await store.turns.settle(turn);
      expect(await store.conversations.find(account.id, turn.conversationId)).toBeNull();
      expect(await store.usage.query(account.id, dayUsage)).toMatchObject([{ messages: 1 }]);
    });

    test("under way while their visitor or conversation is erased leave usage and quota only", async () => {
      const { turns, conversations, usage } = world.store;
      const visitorId = systemIds.randomUuid();
      const newKey = () => ({ companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId });
      const [deleted, erased, fresh] = [newKey(), newKey(), newKey()];
      const first = world.turnOf(companion, { key: deleted });
      const second = world.turnOf(companion, { key: deleted });
      await turns.settle(first);
      await conversations.delete(account.id, first.conversationId, world.context());
      await turns.settle(second);
      expect(await turns.listHistory(deleted, 1000)).toEqual([]);

      await turns.settle(world.turnOf(companion, { key: erased }));
      const underWay = [erased, fresh].map((key) => world.turnOf(companion, { key }));
      const other = world.turnOf(companion, { key: { ...erased, visitorId: systemIds.randomUuid() } });
      await conversations.eraseVisitors(account.id, companion.id, [visitorId], world.context());
      for (const turn of [...underWay, other]) await turns.settle(turn);
      const { items } = await conversations.list(account.id, anything, firstPage);
      expect(items.map((item) => item.visitorId)).toEqual([other.key.visitorId]);
      expect(await turns.countDay(companion.id, day)).toBe(6);
      expect(await usage.query(account.id, dayUsage)).toMatchObject([{ messages: 6 }]);

      await turns.settle(world.turnOf(companion, { key: erased }));
      expect(await turns.listHistory(erased, 1000)).toHaveLength(2);
    });

    test("under way leave no messages when erased by a clock that was set back, and later ones do after it was set right", async () => {
      const { turns, conversations } = world.store;
      const visitorId = systemIds.randomUuid();
      const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId };
      const underWay = world.turnOf(companion, { key });
      world.clock.step(-3_600_000);
      await conversations.eraseVisitors(account.id, companion.id, [visitorId], world.context());
      await turns.settle(underWay);
      expect(await turns.listHistory(key, 1000)).toEqual([]);
      world.clock.step(7_200_000);
      await conversations.eraseVisitors(account.id, companion.id, [visitorId], world.context());
      world.clock.step(-3_600_000);
      await turns.settle(world.turnOf(companion, { key }));
      expect(await turns.listHistory(key, 1000)).toHaveLength(2);
    });

    test("of a test chat are counted in usage and the day, and kept nowhere", async () => {
      const { store } = world;
      const usage = {
        inputTokens: 5,
        outputTokens: 6,
        cachedTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
        estimated: true,
      };
      const unkept = {
        ticketId: null,
        isCounted: true,
        accountId: account.id,
        companionId: companion.id,
        keyId: "k1",
        day,
        usage,
        ...answered,
        failure: "broken_off" as const,
      };
      await store.turns.settleUnkept(unkept);
      const counted = { messages: 1, inputTokens: 5, outputTokens: 6, errors: 1 };
      expect(await store.usage.query(account.id, dayUsage)).toMatchObject([counted]);
      expect(await store.turns.countDay(companion.id, day)).toBe(1);
      expect((await store.conversations.list(account.id, anything, firstPage)).items).toEqual([]);
      const month = day.slice(0, 7);
      expect(await store.turns.countMonthTokens(account.id, companion.id, month)).toBe(11);
      await store.turns.settle(world.turnOf(companion));
      expect(await store.turns.countMonthTokens(account.id, companion.id, month)).toBeGreaterThan(11);
      expect(await store.turns.countMonthTokens(account.id, companion.id, "1999-01")).toBe(0);
      expect(await store.turns.countMonthTokens(account.id, systemIds.uuid(), month)).toBe(0);
    });

    test("that failed without an answer are counted as errors, with what they cost, and are no messages of the day", async () => {
      const { store } = world;
      const place = { ticketId: null, accountId: account.id, companionId: companion.id, keyId: "k1", day };
      await store.turns.settleUnkept({ ...place, ...unanswered, failure: "refused_key" });
      const cost = { micros: 12, picos: 0 };
      const failed = { ...world.turnOf(companion), ...unanswered, messages: [], failure: "timed_out", cost } as const;
      await store.turns.settle({ ...failed, answeredBy: answered.answeredBy });
      const counted = { messages: 0, inputTokens: 0, outputTokens: 0, errors: 2, costMicros: 12, unpriced: 0 };
      expect(await store.usage.query(account.id, dayUsage)).toMatchObject([counted]);
      expect(await store.turns.countDay(companion.id, day)).toBe(0);
      expect((await store.conversations.list(account.id, anything, firstPage)).items).toEqual([]);
    });

    test("that the provider counted, though it failed, are messages of the day and of the visitor, and nothing is kept", async () => {
      const { store } = world;
      const usage = {
        ...world.turnOf(companion).usage,
        outputTokens: 2000,
        reasoningTokens: 1900,
        cacheWriteTokens: 2,
      };
      const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: "v1.visitor" };
      const visitor = { sealed: "s", isLimited: true };
      const forgotten = { messages: [], failure: "no_room", usage, visitor, key } as const;
      await store.turns.settle({ ...world.turnOf(companion), ...forgotten });
      await store.turns.settle({ ...world.turnOf(companion), ...forgotten, isCounted: false });
      const counted = { messages: 1, errors: 2, outputTokens: 4000, reasoningTokens: 3800, cacheWriteTokens: 4 };
      expect(await store.usage.query(account.id, dayUsage)).toMatchObject([counted]);
      expect(await store.turns.countDay(companion.id, day)).toBe(1);
      expect(await store.turns.countVisitorDay(companion.id, "v1.visitor", day)).toBe(1);
      expect((await store.conversations.list(account.id, anything, firstPage)).items).toEqual([]);
    });

    test("calls that are no message are in usage under their model, and the day's quota does not count them", async () => {
      const { store } = world;
      const place = { accountId: account.id, companionId: companion.id, keyId: "k1", day };
      const answeredBy = { model: "small", provider: "default" };
      const cost = { micros: 7, picos: 0 };
      const usage = { inputTokens: 40, outputTokens: 9, cachedTokens: 3, cacheWriteTokens: 4, reasoningTokens: 8 };
      await store.turns.recordCall({ ...place, usage, answeredBy, cost, spend: null });
      await store.turns.recordCall({ ...place, usage, answeredBy, cost, spend: null });
      const byModel = await store.usage.query(account.id, { ...dayUsage, groupBy: ["model"] });
      const counted = { messages: 0, inputTokens: 80, outputTokens: 18, errors: 0, costMicros: 14, unpriced: 0 };
      const ofIt = { cachedTokens: 6, cacheWriteTokens: 8, reasoningTokens: 16 };
      expect(byModel).toMatchObject([{ model: "small", ...counted, ...ofIt }]);
      // Without a price nobody knows what the rest costs in all.
      await store.turns.recordCall({ ...place, usage, answeredBy, cost: null, spend: null });
      expect(await store.usage.query(account.id, dayUsage)).toMatchObject([{ inputTokens: 120, unpriced: 1 }]);
      expect(await store.turns.countDay(companion.id, day)).toBe(0);
    });

    test("settled at the same time are all there", async () => {
      const { store } = world;
      const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: systemIds.randomUuid() };
      const turns = Array.from({ length: 100 }, (_, at) => world.turnOf(companion, { key, said: `number ${at}` }));
      await Promise.all(turns.map((turn) => store.turns.settle(turn)));
      expect(await store.turns.countDay(companion.id, day)).toBe(100);
      const { items } = await store.conversations.list(account.id, anything, firstPage);
      expect(items).toHaveLength(1);
      expect(items[0]?.messageCount).toBe(200);
      const found = await store.conversations.find(account.id, items[0]?.id ?? "", { limit: 200, before: null });
      expect(found?.messages).toEqual(expect.arrayContaining(turns.flatMap((turn) => turn.messages)));
      const said = found?.messages.filter((message) => message.role === "user").map(textOf);
      expect(said).toEqual(turns.map((_, at) => `number ${at}`));
    });

    test("count by the day of their admission", async () => {
      const { turns } = world.store;
      await turns.settle(world.turnOf(companion, { day: "2026-01-14" }));
      await turns.settle(world.turnOf(companion, { day: "2026-01-15" }));
      await turns.settle(world.turnOf(companion, { day: "2026-01-14" }));
      expect(await turns.countDay(companion.id, "2026-01-14")).toBe(2);
      expect(await turns.countDay(companion.id, "2026-01-15")).toBe(1);
      expect(await turns.countDay(companion.id, "2026-01-16")).toBe(0);
    });

    test("of a day that a wrong clock told do not make today's free again", async () => {
      const { turns } = world.store;
      for (const told of [day, "2027-06-01", "2028-06-01"]) await turns.settle(world.turnOf(companion, { day: told }));
      expect(await turns.countDay(companion.id, day)).toBe(1);
      await turns.settle(world.turnOf(companion, { day }));
      expect(await turns.countDay(companion.id, day)).toBe(2);
    });

    test("of long ago are forgotten", async () => {
      const { turns } = world.store;
      const days = ["2026-01-10", "2026-01-11", "2026-01-12", "2026-01-13"];
      for (const counted of days) await turns.settle(world.turnOf(companion, { day: counted }));
      const counts = await Promise.all(days.map((counted) => turns.countDay(companion.id, counted)));
      expect(counts).toEqual([0, 1, 1, 1]);
    });

    test("of the same session with another visitor, or with none, are another conversation", async () => {
      const { turns } = world.store;
      const sessionId = systemIds.randomUuid();
      const visitors = [null, systemIds.randomUuid(), systemIds.randomUuid()];
      for (const visitorId of visitors) {
        const key = { companionId: companion.id, sessionId, visitorId };
        await turns.settle(world.turnOf(companion, { key, said: `from ${visitorId}`, answered: null }));
      }
      for (const visitorId of visitors) {
        const history = await turns.listHistory({ companionId: companion.id, sessionId, visitorId }, 1000);
        expect(history).toEqual([{ role: "user", parts: textParts(`from ${visitorId}`) }]);
      }
    });

    test("give their history newest first, until the bytes are passed", async () => {
      const { turns } = world.store;
      const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: null };
      expect(await turns.listHistory(key, 1000)).toEqual([]);
      for (let at = 0; at < 60; at++) {
        await turns.settle(world.turnOf(companion, { key, said: `ask ${at} äöü`, answered: `answer ${at}` }));
      }
      const all = await turns.listHistory(key, 1_000_000);
      expect(all).toHaveLength(120);
      expect(all[0]).toEqual({ role: "assistant", parts: textParts("answer 59") });
      expect(all[119]).toEqual({ role: "user", parts: textParts("ask 0 äöü") });
      // "answer 59" has 9 bytes, "ask 59 äöü" 13: umlauts are two bytes each.
      expect(await turns.listHistory(key, 9)).toHaveLength(2);
      expect(await turns.listHistory(key, 8)).toHaveLength(1);
      expect(await turns.listHistory(key, 21)).toHaveLength(2);
      expect(await turns.listHistory(key, 22)).toHaveLength(3);
    });
  });
}
