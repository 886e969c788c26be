/** Amounts of money in the dashboard: read without a rounding error, written as precisely as it makes sense; and budgets in words. */
import { expect, test } from "bun:test";
import { findStop, previewBody, toBudgetDraft } from "../../src/web/dashboard/budgets/budget-draft.ts";
import {
  describeAlarms,
  leftOf,
  levelOf,
  percentOf,
  pickAlarming,
} from "../../src/web/dashboard/budgets/budget-state.ts";
import {
  formatCompactMoney,
  formatExactMoney,
  formatMoney,
  formatRoundMoney,
  readMicros,
  writeDollars,
} from "../../src/web/dashboard/lib/money.ts";
import type { Budget } from "../../src/web/dashboard/lib/types.ts";

test("dollars become micro-dollars exactly, also where a floating point number would not", () => {
  const amounts: [string, number][] = [
    ["50", 50_000_000],
    ["12.5", 12_500_000],
    ["0.1", 100_000],
    ["8.41", 8_410_000],
    ["1.005", 1_005_000],
    ["4.35", 4_350_000],
    ["0.000001", 1],
    [".5", 500_000],
    ["$ 3.", 3_000_000],
    [" 999999999.999999 ", 999_999_999_999_999],
  ];
  for (const [text, micros] of amounts) expect([text, readMicros(text)]).toEqual([text, micros]);
  for (const text of ["", ".", "1,50", "1.0000001", "-1", "1e3", "ten", "1 000", "9999999999"]) {
    expect([text, readMicros(text)]).toEqual([text, null]);
  }
  for (const micros of [0, 1, 10_000, 100_001, 12_345_678, 999_999_999_999_999]) {
    expect(readMicros(writeDollars(micros))).toBe(micros);
  }
  expect([writeDollars(50_000_000), writeDollars(12_345_600)]).toEqual(["50.00", "12.3456"]);
});

test("amounts show the digits that tell something, limits show all of theirs", () => {
  expect([0, 42, 4200, 4250, 99_960, 424_242, 12_500_000, 1_234_567_890].map(formatMoney)).toEqual([
    "$0.00",
    "$0.000042",
    "$0.0042",
    "$0.00425",
    "$0.10",
    "$0.42",
    "$12.50",
    "$1,234.57",
  ]);
  expect([0, 187, 9_999, 10_000].map(formatRoundMoney)).toEqual(["$0.00", "< $0.01", "< $0.01", "$0.01"]);
  expect([50_000_000, 4250, 12_345_678].map(formatExactMoney)).toEqual(["$50.00", "$0.00425", "$12.345678"]);
  expect([0, 2500, 1_200_000_000].map(formatCompactMoney)).toEqual(["$0", "$0.0025", "$1.2K"]);
});

function budgetWith(fields: Partial<Budget>): Budget {
  const moment = "2026-11-23T00:00:00.000Z";
  return {
    id: "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10",
    account: true,
    key_id: null,
    companion_id: null,
    metadata: null,
    limit_micros: 1000,
    period: "month",
    action: "stop",
    spent_micros: 0,
    reserved_micros: 0,
    reached_at: null,
    resets_at: moment,
    created_at: moment,
    updated_at: moment,
    ...fields,
  };
}

test("a budget alarms from four fifths on, and most when it is reached", () => {
  const calm = budgetWith({ spent_micros: 799 });
  const near = budgetWith({ spent_micros: 800 });
  const refused = budgetWith({ spent_micros: 900, reached_at: "2026-11-23T00:00:00.000Z" });
  const spent = budgetWith({ spent_micros: 1200, reserved_micros: 5 });
  const zero = budgetWith({ limit_micros: 0 });
  expect([calm, near, refused, spent, zero].map(levelOf)).toEqual(["calm", "near", "reached", "reached", "reached"]);
  expect([calm, near, refused, spent, zero].map(percentOf)).toEqual([79, 80, 90, 120, 100]);
  expect(leftOf(budgetWith({ spent_micros: 300, reserved_micros: 200 }))).toBe(500);
  expect(leftOf(spent)).toBe(0);
  expect(pickAlarming([calm, near, spent])).toEqual([spent, near]);
  expect(describeAlarms([calm])).toBe("");
  expect(describeAlarms([near])).toBe("1 budget nearly used up");
  expect(describeAlarms([near, refused, spent])).toBe("2 budgets reached, 1 budget nearly used up");
});

test("a budget that would stop replies at once is told: by what is spent, or by what a reply must be able to cost", () => {
  const draft = toBudgetDraft(budgetWith({ limit_micros: 5_000_000 }));
  const lower = { ...draft, amount: "3" };
  const preview = { spent_micros: 3_000_000, reply_micros: 20_000 };
  const spent = "$3.00 was spent this month already, and the limit is $3.00: once this is saved, visitors";
  expect(findStop(lower, preview)).toStartWith(spent);
  expect(findStop({ ...lower, action: "notify" }, preview)).toBeNull();
  expect(findStop({ ...lower, amount: "0" }, null)).toStartWith("A limit of nothing stops every reply");
  expect(findStop(lower, null)).toBeNull();

  expect(findStop({ ...lower, amount: "3.019999", period: "day" }, preview)).toBe(
    "What a reply may cost is held before it is made: here at least $0.02, and this limit leaves $0.02 today: once this " +
      "is saved, visitors get no more replies until the next day begins (UTC). To let them go on, set a limit well above " +
      "$3.02 or only notify.",
  );
  expect(findStop({ ...lower, amount: "3.02" }, preview)).toBeNull();
  expect(findStop({ ...lower, amount: "3.000001" }, { ...preview, reply_micros: null })).toBeNull();

  expect(previewBody(draft)).toEqual({ account: true, period: "month" });
  const byMetadata = { ...draft, kind: "metadata" as const, pairs: [{ field: " tenant ", value: "42" }] };
  expect(previewBody(byMetadata)).toMatchObject({ metadata: { tenant: expect.anything() } });
  expect(previewBody({ ...draft, amount: "", kind: "key_id", key_id: "k" })).toEqual({ key_id: "k", period: "month" });
  expect(previewBody({ ...draft, kind: "key_id", key_id: "" })).toBeNull();
  expect(previewBody({ ...draft, action: "notify" })).toBeNull();
});
