/** The clock of servers that share a database. */
import { expect, test } from "bun:test";
import { createSharedClock } from "../../src/lib/clock.ts";

test("tells whole milliseconds, as everything that stores them expects", () => {
  const own = { nowMs: () => 1_000_000, monotonicMs: () => 5.25 };
  const clock = createSharedClock({ clockOffsetMs: 180_000.3412 }, own);
  expect(clock.nowMs()).toBe(1_180_000);
  expect(clock.monotonicMs()).toBe(5.25);
});
