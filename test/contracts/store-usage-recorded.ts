/** What every storage engine must do with usage as it was recorded: metadata, who replied, cost, pages and events. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type {
  SettledTurn,
  UsageEvent,
  UsageGroup,
  UsagePosition,
  UsageQuery,
} from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { answered } from "../support/answered.ts";
import { eventually } from "../support/eventually.ts";
import { newApiKey, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

const spring: UsageQuery = {
  fromDay: "2026-01-15",
  toDay: "2026-03-10",
  groupBy: [],
  companionId: null,
  metadata: [],
};

export function recordedUsageContract(open: OpenStore): void {
  describe("usage as it was recorded", () => {
    let world: StoreWorld;
    let account: Account;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
    });
    afterEach(() => world.close());

    const settle = (companion: Companion, fields: Partial<SettledTurn> = {}) =>
      world.store.turns.settle(world.turnOf(companion, fields));
    const query = (fields: Partial<UsageQuery>) => world.store.usage.query(account.id, { ...spring, ...fields });
    const relabel = (companion: Companion, metadata: Companion["metadata"]) =>
      world.store.companions.update(account.id, companion.id, { metadata }, world.context());
    const plan = (value: string) => ({ metadata: [{ path: "plan", value }] });

    test("neither new metadata nor the end of a companion moves anything", async () => {
      const companion = await world.createCompanion(account, { metadata: { plan: "free", tenant: "acme" } });
      await settle(companion, { day: "2026-02-01" });
      await relabel(companion, { plan: "pro", tenant: "acme" });
      await settle(companion, { day: "2026-02-01" });
      await settle(companion, { day: "2026-03-02" });
      const check = async () => {
        expect(await query(plan("free"))).toMatchObject([{ messages: 1 }]);
        expect(await query(plan("pro"))).toMatchObject([{ messages: 2 }]);
        expect(await query({ ...plan("pro"), companionId: companion.id })).toMatchObject([{ messages: 2 }]);
        expect(await query({ ...plan("pro"), fromDay: "2026-02-02" })).toMatchObject([{ messages: 1 }]);
        const byPlan = await query({ groupBy: ["metadata.plan"] });
        expect(byPlan).toMatchObject([
          { metadata: { "metadata.plan": "free" }, messages: 1 },
          { metadata: { "metadata.plan": "pro" }, messages: 2 },
        ]);
        expect(await query({ groupBy: ["metadata.tenant", "month"], ...plan("pro") })).toMatchObject([
          { month: "2026-02", metadata: { "metadata.tenant": "acme" }, messages: 1 },
          { month: "2026-03", metadata: { "metadata.tenant": "acme" }, messages: 1 },
        ]);
      };
      await check();
      await relabel(companion, { plan: "gone" });
      await check();
      await world.store.companions.delete(account.id, companion.id, world.context());
      await check();
    });

    test("a turn that ends after its companion counts under the last metadata", async () => {
      const companion = await world.createCompanion(account, { metadata: { plan: "pro" } });
      await settle(companion, { day: "2026-02-01" });
      await world.store.companions.delete(account.id, companion.id, world.context());
      await settle(companion, { day: "2026-02-02" });
      expect(await query(plan("pro"))).toMatchObject([{ messages: 2 }]);
    });

    test("a companion's first turn counts under its metadata, even if the companion goes meanwhile", async () => {
      const companion = await world.createCompanion(account, { metadata: { plan: "pro" } });
      await world.store.companions.delete(account.id, companion.id, world.context());
      await settle(companion, { day: "2026-02-01" });
      expect(await query(plan("pro"))).toMatchObject([{ messages: 1 }]);
    });

    test("fields are texts, numbers as JSON; nested by dots, with a dot in the name first; null where absent", async () => {
      const metadatas: Companion["metadata"][] = [
        { "user.id": "own", user: { id: "nested" } },
        { user: { id: 42 } },
        { user: { id: ["a", 1] } },
        { user: [{ id: "in a list" }] },
        { user: { id: null } },
        {},
      ];
      for (const metadata of metadatas) await settle(await world.createCompanion(account, { metadata }));
      const rows = await query({ groupBy: ["metadata.user.id"] });
      expect(rows.map(({ metadata, messages }) => [metadata?.["metadata.user.id"], messages])).toEqual([
        [null, 3],
        ["42", 1],
        ['["a",1]', 1],
        ["own", 1],
      ]);
      // Filters look into lists and find both names, as those of companions do.
      const filtered = async (value: string) => (await query({ metadata: [{ path: "user.id", value }] })).length;
      expect(await Promise.all(["own", "nested", "42", "a", "1", "in a list", "null"].map(filtered))).toEqual(
        Array(7).fill(1),
      );
      expect(await filtered("absent")).toBe(0);
      const ofKey = async (value: string) =>
        (await query({ metadata: [{ path: "user.id", value, isKey: true }] })).length;
      expect([await ofKey("own"), await ofKey("nested"), await ofKey("42")]).toEqual([1, 0, 0]);
    });

    test("filters find what is new since the last one, and all that changed meanwhile", async () => {
      const companion = await world.createCompanion(account, { metadata: { plan: "a" } });
      await settle(companion);
      expect(await query(plan("a"))).toMatchObject([{ messages: 1 }]);
      for (const value of ["b", "c", "a"]) {
        await relabel(companion, { plan: value, mine: "yes" });
        await settle(companion);
      }
      expect(await query(plan("b"))).toMatchObject([{ messages: 1 }]);
      expect(await query(plan("a"))).toMatchObject([{ messages: 2 }]);
      const both = [
        { path: "plan", value: "a" },
        { path: "mine", value: "yes" },
      ];
      expect(await query({ metadata: both })).toMatchObject([{ messages: 1 }]);
      const asked = await Promise.all(Array.from({ length: 5 }, () => query({ metadata: both })));
      expect(asked.every(([row]) => row?.messages === 1)).toBe(true);
    });

    test("is grouped by month, model and provider; what nobody answered has neither", async () => {
      const companion = await world.createCompanion(account);
      await settle(companion, { day: "2026-01-31" });
      await settle(companion, { day: "2026-02-01", answeredBy: { provider: "second", model: "gpt-test" } });
      await world.store.apiKeys.create(account.id, newApiKey({ id: "k1" }), world.context());
      await world.store.apiKeys.recordUses([{ keyId: "k1", requests: 9, lastUsedAt: 1 }], "2026-02-01");
      const expected = [
        { month: "2026-01", model: "gpt-test", provider: "default", messages: 1, requests: 0 },
        { month: "2026-02", model: null, provider: null, messages: 0, requests: 9 },
        { month: "2026-02", model: "gpt-test", provider: "second", messages: 1, requests: 0 },
      ];
      const groupBy = ["provider", "model", "month"] satisfies UsageGroup[];
      expect(await query({ groupBy })).toMatchObject(expected);
      const ofCompanion = await query({ groupBy, companionId: companion.id });
      expect(ofCompanion).toMatchObject(expected.filter(({ messages }) => messages > 0));
      expect(await query({ groupBy: ["month"], fromDay: "2026-01-01", toDay: "2026-02-28" })).toMatchObject([
        { month: "2026-01", messages: 1 },
        { month: "2026-02", messages: 1 },
      ]);
    });

    test("costs are added up exactly, far beyond what a double holds in millionths of millionths", async () => {
      const companion = await world.createCompanion(account, { metadata: { plan: "pro" } });
      const micros = 9_000_000_000_000;
      for (let at = 0; at < 3; at++) await settle(companion, { cost: { micros, picos: 999_999 } });
      const usage = {
        inputTokens: 1,
        outputTokens: 0,
        cachedTokens: 5,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
        estimated: false,
      };
      await settle(companion, { cost: null, usage, day: "2026-02-20" });
      const priced = { costMicros: 3 * micros, costPicos: 2_999_997 };
      const [whole] = await query(plan("pro"));
      expect(whole).toMatchObject({ ...priced, unpriced: 1, cachedTokens: 5 });
      const byDay = await query({ groupBy: ["day"] });
      expect(byDay).toMatchObject([
        { ...priced, unpriced: 0, cachedTokens: 0 },
        { costMicros: 0, unpriced: 1 },
      ]);
    });

    async function readPages(fields: Partial<UsageQuery>, limit: number) {
      const rows = [];
      for (let after: UsagePosition | null = null; ; ) {
        const page = await world.store.usage.queryPage(account.id, { ...spring, ...fields }, { limit, after });
        expect(page.rows.length).toBeLessThanOrEqual(limit);
        rows.push(...page.rows);
        if (page.next === null) return rows;
        expect(page.rows).toHaveLength(limit);
        after = page.next;
      }
    }

    test("pages together are the whole, in its order, however it is grouped and filtered", async () => {
      for (let at = 0; at < 7; at++) {
        const companion = await world.createCompanion(account, {
          metadata: { plan: at % 2 === 0 ? "pro" : "free", tenant: `t${at % 3}`, note: "x".repeat(99 + at) },
        });
        for (const day of ["2026-01-31", "2026-02-01", "2026-03-01"].slice(0, 1 + (at % 3))) {
          await settle(companion, { day });
          await settle(companion, { day, keyId: "k1" });
        }
        if (at === 3) await relabel(companion, { plan: "pro" });
        if (at === 3) await settle(companion, { day: "2026-02-02" });
      }
      const groupings: UsageGroup[][] = [
        [],
        ["day"],
        ["companion"],
        ["key", "month"],
        ["day", "companion", "key"],
        ["companion", "month", "metadata.plan"],
        ["metadata.tenant", "metadata.note"],
        ["day", "metadata.plan"],
      ];
      for (const groupBy of groupings) {
        for (const filter of [{}, plan("pro")]) {
          const whole = await query({ groupBy, ...filter });
          expect(whole.length).toBeGreaterThan(0);
          for (const limit of [1, 4, 1000]) expect(await readPages({ groupBy, ...filter }, limit)).toEqual(whole);
        }
      }
      expect(await readPages({ groupBy: ["day"], fromDay: "2026-03-05" }, 5)).toEqual([]);
    });

    async function readEvents(fromDay: string, toDay: string): Promise<UsageEvent[]> {
      const events: UsageEvent[] = [];
      for (let after = null, steps = 0; ; steps++) {
        expect(steps).toBeLessThan(50);
        const slice = await world.store.usage.listEvents(account.id, { fromDay, toDay, after });
        events.push(...slice.events);
        if (slice.next === null) return events;
        after = slice.next as never;
      }
    }

    test("events are one for each companion, model, provider, day and metadata, the same each time", async () => {
      const ada = await world.createCompanion(account, { metadata: { plan: "pro" } });
      const ben = await world.createCompanion(account);
      await settle(ada, { day: "2026-02-01", keyId: "k1" });
      await settle(ada, { day: "2026-02-01", answeredBy: { provider: "second", model: "other" } });
      await relabel(ada, { plan: "free" });
      await settle(ada, { day: "2026-02-01" });
      await relabel(ada, { plan: "pro" });
      await settle(ada, { day: "2026-02-01" });
      await settle(ben, { day: "2026-02-03", ...answered });
      await world.store.apiKeys.create(account.id, newApiKey({ id: "k1" }), world.context());
      await world.store.apiKeys.recordUses([{ keyId: "k1", requests: 9, lastUsedAt: 1 }], "2026-02-02");
      const events = await readEvents("2026-01-15", "2026-03-10");
      const facts = events.map(({ day, companionId, model, metadata, messages }) =>
        [day, companionId === ada.id ? "ada" : "ben", model, metadata, messages].join(" "),
      );
      expect(facts.toSorted()).toEqual([
        '2026-02-01 ada gpt-test {"plan":"free"} 1',
        '2026-02-01 ada gpt-test {"plan":"pro"} 2',
        '2026-02-01 ada other {"plan":"pro"} 1',
        "2026-02-03 ben gpt-test {} 1",
      ]);
      expect(new Set(events.map(({ identifier }) => identifier)).size).toBe(4);
      await world.store.companions.delete(account.id, ada.id, world.context());
      expect(await readEvents("2026-01-15", "2026-03-10")).toEqual(events);
      expect(await readEvents("2026-02-03", "2026-02-03")).toEqual(events.slice(3));
      for (const [at, { day, companionId, identifier }] of events.entries()) {
        const after = { day, companionId, identifier };
        const slice = await world.store.usage.listEvents(account.id, {
          fromDay: "2026-01-15",
          toDay: "2026-02-01",
          after,
        });
        expect(slice.events).toEqual(events.slice(at + 1, 3));
      }
    });

    test("goes with the account: nothing of the recorded metadata stays", async () => {
      const companion = await world.createCompanion(account, { metadata: { plan: "pro" } });
      await settle(companion);
      expect(await query(plan("pro"))).toHaveLength(1);
      await world.store.accounts.delete(account.id, world.context());
      const isEmpty = async () => {
        const [row] = await query({ groupBy: ["metadata.plan"] });
        return row?.metadata?.["metadata.plan"] === null;
      };
      await eventually(isEmpty, { what: "the end of the labels" });
    });
  });
}
