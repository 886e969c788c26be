/** What every storage engine must do with usage. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { UsageGroup, UsageQuery } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import type { FailureKind } from "../../src/domain/reply-failure.ts";
import { answered, noUsage, unanswered } from "../support/answered.ts";
import { newApiKey, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

const january: UsageQuery = {
  fromDay: "2026-01-01",
  toDay: "2026-01-31",
  groupBy: [],
  companionId: null,
  metadata: [],
};
const zero = noUsage;

export function usageStoreContract(open: OpenStore): void {
  describe("usage", () => {
    let world: StoreWorld;
    let account: Account;
    let pro: Companion;
    let free: Companion;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
      pro = await world.createCompanion(account, { metadata: { plan: "pro" } });
      free = await world.createCompanion(account, { metadata: { plan: "free" } });
      const { turns, apiKeys, voice } = world.store;
      await apiKeys.create(account.id, newApiKey({ id: "k1", name: "K" }), world.context());
      await turns.settle(world.turnOf(pro, { day: "2026-01-02", keyId: "k1" }));
      await turns.settle(world.turnOf(pro, { day: "2026-01-02", keyId: "k1", failure: "broken_off" }));
      await turns.settle(world.turnOf(pro, { day: "2026-01-03", keyId: "k1" }));
      await turns.settle(world.turnOf(free, { day: "2026-01-02" }));
      await turns.settle(world.turnOf(free, { day: "2026-02-01" }));
      await apiKeys.recordUses([{ keyId: "k1", requests: 9, lastUsedAt: 1 }], "2026-01-02");
      const session = {
        ticketId: null,
        providerConversationId: null,
        sessionId: "s1",
        visitorId: null,
        sealedVisitor: null,
        keyId: "k1",
        reservationId: null,
        createdAt: 1,
      };
      const place = { accountId: account.id, companionId: pro.id, day: "2026-01-03" };
      await voice.startSession({ ...session, ...place });
    });
    afterEach(() => world.close());

    const query = (fields: Partial<UsageQuery>) => world.store.usage.query(account.id, { ...january, ...fields });
    const group = (...groupBy: UsageGroup[]) => query({ groupBy });

    test("says that there are more rows than were asked for at most, without reading on", async () => {
      const days: UsageQuery = { ...january, groupBy: ["day", "companion"] };
      const all = await world.store.usage.query(account.id, days);
      expect(all.length).toBeGreaterThan(2);
      expect(await world.store.usage.query(account.id, days, all.length)).toEqual(all);
      for (const filters of [
        {},
        { groupBy: ["day"] as UsageQuery["groupBy"] },
        { metadata: [{ path: "plan", value: "pro" }] },
      ]) {
        const found = await world.store.usage.query(account.id, { ...days, ...filters }, 1);
        expect(found.length).toBeGreaterThan(1);
      }
    });

    test("is summed over the whole range, both ends included", async () => {
      const all = { ...zero, messages: 4, requests: 9, inputTokens: 28, outputTokens: 12, voiceSessions: 1, errors: 1 };
      expect(await query({})).toEqual([all]);
      const oneDay = { ...zero, messages: 1, inputTokens: 7, outputTokens: 3, voiceSessions: 1 };
      expect(await query({ fromDay: "2026-01-03", toDay: "2026-01-03" })).toEqual([oneDay]);
      expect(await query({ fromDay: "2026-02-01", toDay: "2026-02-01" })).toMatchObject([{ messages: 1 }]);
      expect(await query({ fromDay: "2025-01-01", toDay: "2025-12-31" })).toEqual([]);
    });

    test("is grouped by day", async () => {
      expect(await group("day")).toEqual([
        { ...zero, day: "2026-01-02", messages: 3, requests: 9, inputTokens: 21, outputTokens: 9, errors: 1 },
        { ...zero, day: "2026-01-03", messages: 1, inputTokens: 7, outputTokens: 3, voiceSessions: 1 },
      ]);
    });

    test("is grouped by key, the dashboard first", async () => {
      expect(await group("key")).toEqual([
        { ...zero, keyId: null, messages: 1, inputTokens: 7, outputTokens: 3 },
        {
          ...zero,
          keyId: "k1",
          messages: 3,
          requests: 9,
          inputTokens: 21,
          outputTokens: 9,
          voiceSessions: 1,
          errors: 1,
        },
      ]);
    });

    test("is grouped by companion, calls of keys by themselves", async () => {
      expect(await group("companion")).toEqual([
        { ...zero, companionId: null, requests: 9 },
        { ...zero, companionId: pro.id, messages: 3, inputTokens: 21, outputTokens: 9, voiceSessions: 1, errors: 1 },
        { ...zero, companionId: free.id, messages: 1, inputTokens: 7, outputTokens: 3 },
      ]);
    });

    test("is grouped by all of them", async () => {
      const rows = await group("day", "companion", "key");
      expect(rows.map((row) => [row.day, row.companionId, row.keyId, row.messages])).toEqual([
        ["2026-01-02", null, "k1", 0],
        ["2026-01-02", pro.id, "k1", 2],
        ["2026-01-02", free.id, null, 1],
        ["2026-01-03", pro.id, "k1", 1],
      ]);
    });

    test("is filtered by companion and by metadata, without the calls of keys", async () => {
      const ofPro = { ...zero, messages: 3, inputTokens: 21, outputTokens: 9, voiceSessions: 1, errors: 1 };
      expect(await query({ companionId: pro.id })).toEqual([ofPro]);
      expect(await query({ metadata: [{ path: "plan", value: "pro" }] })).toEqual([ofPro]);
      expect(await query({ metadata: [{ path: "plan", value: "pro" }], companionId: pro.id })).toEqual([ofPro]);
      expect(await query({ metadata: [{ path: "plan", value: "pro" }], companionId: free.id })).toEqual([]);
      expect(await query({ metadata: [{ path: "plan", value: "none" }] })).toEqual([]);
      const byDay = await query({ metadata: [{ path: "plan", value: "pro" }], groupBy: ["day", "key"] });
      expect(byDay.map((row) => [row.day, row.keyId, row.messages])).toEqual([
        ["2026-01-02", "k1", 2],
        ["2026-01-03", "k1", 1],
      ]);
    });

    test("covers more companions than are read at once", async () => {
      for (let at = 0; at < 120; at++) {
        const companion = await world.createCompanion(account, { metadata: { plan: "many" } });
        await world.store.turns.settle(world.turnOf(companion, { day: "2026-01-05" }));
      }
      const many = { metadata: [{ path: "plan", value: "many" }] };
      expect(await query(many)).toMatchObject([{ messages: 120 }]);
      expect(await query({ ...many, groupBy: ["companion"] })).toHaveLength(120);
      expect(await group("companion")).toHaveLength(123);
    });

    test("reports failed replies by kind, the most frequent first, and the last day of each", async () => {
      const { turns, usage } = world.store;
      const failed = (companion: Companion, day: string, kind: FailureKind) =>
        turns.settleUnkept({
          ...{ ticketId: null, accountId: account.id, companionId: companion.id, keyId: null, day },
          ...unanswered,
          failure: kind,
        });
      await failed(pro, "2026-01-31", "refused_key");
      await failed(pro, "2026-01-01", "refused_key");
      await failed(free, "2026-01-04", "refused_key");
      await failed(free, "2026-01-05", "broken_off");
      await failed(free, "2026-02-01", "timed_out");
      await turns.settleUnkept({
        ticketId: null,
        isCounted: true,
        accountId: account.id,
        companionId: free.id,
        keyId: null,
        day: "2026-01-06",
        usage: {
          inputTokens: 1,
          outputTokens: 1,
          cachedTokens: 0,
          cacheWriteTokens: 0,
          reasoningTokens: 0,
          estimated: true,
        },
        ...answered,
        failure: "empty",
      });
      const of = (companionId: string | null, owner = account) =>
        usage.queryFailures(owner.id, { fromDay: "2026-01-01", toDay: "2026-01-31", companionId });
      // One of the cut replies is from before each test.
      expect(await of(null)).toEqual([
        { kind: "refused_key", replies: 3, lastDay: "2026-01-31" },
        { kind: "broken_off", replies: 2, lastDay: "2026-01-05" },
        { kind: "empty", replies: 1, lastDay: "2026-01-06" },
      ]);
      expect(await of(free.id)).toEqual([
        { kind: "broken_off", replies: 1, lastDay: "2026-01-05" },
        { kind: "empty", replies: 1, lastDay: "2026-01-06" },
        { kind: "refused_key", replies: 1, lastDay: "2026-01-04" },
      ]);
      expect(await of(null, await world.createAccount())).toEqual([]);
      expect(await of(free.id, await world.createAccount())).toEqual([]);
    });

    test("keeps to the account", async () => {
      const other = await world.createAccount();
      for (const groupBy of [[], ["day"], ["companion"], ["key"]] satisfies UsageGroup[][]) {
        expect(await world.store.usage.query(other.id, { ...january, groupBy })).toEqual([]);
      }
      expect(await world.store.usage.query(other.id, { ...january, companionId: pro.id })).toEqual([]);
    });
  });
}
