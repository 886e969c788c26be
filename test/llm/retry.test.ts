import { expect, test } from "bun:test";
import { chooseRetryDelayMs } from "../../src/engines/openai/retry.ts";

test("waits longer before each retry, as long as the provider asks, and never long", () => {
  for (let round = 0; round < 100; round++) {
    const [first, second] = [chooseRetryDelayMs(0, null), chooseRetryDelayMs(1, null)];
    expect(first).toBeWithin(375, 501);
    expect(second).toBeWithin(750, 1001);
  }
  expect(chooseRetryDelayMs(0, 2_000)).toBe(2_000);
  expect(chooseRetryDelayMs(0, 86_400_000)).toBe(5_000);
});
