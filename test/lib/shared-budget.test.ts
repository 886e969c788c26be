/** What shares of a budget may hold, and what they release. */
import { expect, test } from "bun:test";
import { SharedBudget } from "../../src/lib/shared-budget.ts";
import { createRandom } from "../support/random.ts";

test("shares grow as long as the total has room for them, and take nothing where it has none", () => {
  const budget = new SharedBudget({ total: 10 });
  const [one, other] = [budget.open(), budget.open()];
  expect([one.growTo(6), other.growTo(4), one.growTo(7), other.growTo(3)]).toEqual([true, true, false, true]);
  expect([one.held, other.held, budget.held]).toEqual([6, 4, 10]);
  other.release();
  expect(one.growTo(10)).toBe(true);
});

test("an owner has no more than its own bound, whatever is left for others", () => {
  const budget = new SharedBudget({ total: 10, ofOne: 6 });
  const [first, second, another] = [budget.open("a"), budget.open("a"), budget.open("b")];
  expect([first.growTo(4), second.growTo(3), second.isWithinOwner(3)]).toEqual([true, false, false]);
  expect([second.growTo(2), another.growTo(5), another.isWithinOwner(5)]).toEqual([true, false, true]);
  first.release();
  expect([second.growTo(6), budget.held]).toEqual([true, 6]);
  second.release();
  expect([budget.held, budget.heldByOwner.size]).toEqual([0, 0]);
});

test("each share has its free part, and takes what is beyond it in steps", () => {
  const released: number[] = [];
  const budget = new SharedBudget({ total: 20, free: 5, step: 10, noteReleased: (amount) => released.push(amount) });
  const share = budget.open();
  expect([share.growTo(5), budget.held]).toEqual([true, 0]);
  expect([share.growTo(6), budget.held]).toEqual([true, 10]);
  expect([share.growTo(15), budget.held]).toEqual([true, 10]);
  expect([share.growTo(26), budget.held]).toEqual([false, 10]);
  expect([share.growTo(25), budget.held]).toEqual([true, 20]);
  share.release();
  share.release();
  expect([budget.held, released]).toEqual([0, [20, 0]]);
});

test("whatever shares do, no bound is passed, and in the end nothing is held", () => {
  const random = createRandom(35);
  const budget = new SharedBudget({ total: 1_000, ofOne: 300, free: 10, step: 7 });
  const shares = Array.from({ length: 40 }, (_, index) => budget.open(`owner ${index % 5}`));
  for (let round = 0; round < 5_000; round++) {
    const share = shares[random.below(shares.length)];
    if (random.below(4) === 0) share?.release();
    else share?.growTo(random.below(200));
    const owned = [...budget.heldByOwner.values()];
    expect(Math.max(0, ...owned)).toBeLessThanOrEqual(300);
    expect(budget.held).toBeLessThanOrEqual(1_000);
    expect(owned.reduce((sum, held) => sum + held, 0)).toBe(budget.held);
  }
  for (const share of shares) share.release();
  expect([budget.held, budget.heldByOwner.size]).toEqual([0, 0]);
});
