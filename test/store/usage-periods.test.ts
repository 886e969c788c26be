/** Ranges of days against their days, one by one. */
import { expect, test } from "bun:test";
import { splitPeriod } from "../../src/engines/store-shared/rows/usage-sums.ts";
import { createRandom } from "../support/random.ts";

const dayAt = (number: number) => new Date(Date.UTC(2023, 10, 1) + number * 86_400_000).toISOString().slice(0, 10);

test("whole months and the days at both ends cover every day of the range once, and no other", () => {
  const random = createRandom(4);
  const allDays = Array.from({ length: 900 }, (_, at) => dayAt(at));
  let months = 0;
  for (let round = 0; round < 400; round++) {
    const from = random.below(450);
    const to = from + random.below(round % 2 === 0 ? 70 : 430);
    const periods = splitPeriod(dayAt(from), dayAt(to), false);
    const covered = allDays.flatMap((day) =>
      periods
        .filter((period) => {
          const text = period.column === "month" ? day.slice(0, 7) : day;
          return text >= period.from && text <= period.to;
        })
        .map(() => day),
    );
    expect(covered).toEqual(allDays.slice(from, to + 1));
    months += periods.filter((period) => period.column === "month").length;
  }
  expect(months).toBeGreaterThan(100);
});

test("by day, no month is taken whole", () => {
  expect(splitPeriod("2026-01-01", "2026-12-31", true)).toEqual([
    { table: "usage_daily", column: "day", from: "2026-01-01", to: "2026-12-31" },
  ]);
});
