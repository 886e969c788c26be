/** Rounding of exact amounts, however large. */
import { expect, test } from "bun:test";
import { ceilToMicros, roundToMicros } from "../../src/domain/money.ts";

test.each([
  [0, 0, 0],
  [499_999, 0, 1],
  [500_000, 1, 1],
  [1_500_000, 2, 2],
  [9_007_199_254_499_999, 9_007_199_254, 9_007_199_255],
  [9_007_199_254_500_000, 9_007_199_255, 9_007_199_255],
])("%d picos are %d micros, at most %d", (picos, rounded, ceiled) => {
  expect(roundToMicros({ micros: 7, picos })).toBe(7 + rounded);
  expect(ceilToMicros({ micros: 7, picos })).toBe(7 + ceiled);
});
