/** Pages of usage where a filter matches many companions: read in order, and no more than the page needs. */
import { expect, test } from "bun:test";
import type { UsageGroup, UsagePosition, UsageQuery } from "../../src/contracts/store/store.ts";
import { noCost } from "../../src/domain/money.ts";
import { createUsageReader, type UsageSource } from "../../src/engines/store-shared/rows/usage-reader.ts";
import type { SumRow } from "../../src/engines/store-shared/rows/usage-sums.ts";
import { noUsage } from "../support/answered.ts";

const companions = 8_000;
const perSlice = 50;
const idOf = (at: number) => `0192f3c1-7d2e-7a44-9a10-${String(at).padStart(12, "0")}`;
const ids = Array.from({ length: companions }, (_, at) => idOf(at));
const textOf = (label: number) => JSON.stringify({ plan: label % 4 === 0 ? "free" : "pro" });

/** Each companion has one message on one of two days, and a label of its number. */
function createSource() {
  const summed: string[] = [];
  const source: Partial<UsageSource> = {
    async *walkLabels() {
      for (let at = 0; at < companions; at += perSlice) {
        const numbers = Array.from({ length: perSlice }, (_, of) => companions - at - of);
        yield numbers.filter((n) => n % 4 !== 0).map((number) => ({ number, companionId: idOf(number - 1) }));
      }
    },
    async *readLabels(numbers) {
      yield numbers.map((number) => ({ number, metadata: textOf(number) }));
    },
    findDay: async (_, from) => ["2026-01-01", "2026-01-02"].find((day) => day >= from) ?? null,
    listCompanions: async (_, from, day) =>
      ids.filter((id, at) => id >= from && (day === null || day.endsWith(String(1 + (at % 2))))).slice(0, perSlice),
    async *sumCompanions(_, [period], dimensions, { companionIds }) {
      if (period?.table !== "usage_daily") return;
      summed.push(...companionIds);
      yield companionIds.map((id): SumRow => {
        const at = ids.indexOf(id);
        const day = dimensions.includes("day") ? `2026-01-0${1 + (at % 2)}` : "";
        const empty = { key_id: "", month: "", model: "", provider: "" };
        const { micros: costMicros, picos: costPicos } = noCost;
        return { ...noUsage, ...empty, costMicros, costPicos, day, companion_id: id, label: at + 1, messages: 1 };
      });
    },
  };
  return { reader: createUsageReader(source as UsageSource), summed };
}

const groupings: [groupBy: UsageGroup[]][] = [[["companion"]], [["day", "companion"]]];

test.each(groupings)("by %p", async (groupBy) => {
  const query: UsageQuery = {
    fromDay: "2026-01-01",
    toDay: "2026-01-02",
    groupBy,
    companionId: null,
    metadata: [{ path: "plan", value: "pro" }],
  };
  const { reader, summed } = createSource();
  const found: (string | null | undefined)[] = [];
  for (let after: UsagePosition | null = null, page = 0; page < 4; page++) {
    const { rows, next } = await reader.queryPage("a", query, { limit: 1_000, after });
    found.push(...rows.map(({ companionId }) => companionId));
    after = next;
  }
  const matching = ids.filter((_, at) => (at + 1) % 4 !== 0);
  const byDay = [0, 1].flatMap((day) => matching.filter((id) => Number(id.slice(-4)) % 2 === day));
  expect(found).toEqual((query.groupBy.includes("day") ? byDay : matching).slice(0, 4_000));
  // A third more than match, and at most the slice that each page ends in.
  expect(summed.length).toBeLessThan(companions);
});
