/** Sorting in slices against sorting at once. */
import { expect, test } from "bun:test";
import { sortInSlices } from "../../src/lib/sort-in-slices.ts";
import { createRandom } from "../support/random.ts";

test("sorts as the language does, and keeps the order of equals", async () => {
  const random = createRandom(7);
  for (const length of [0, 1, 999, 1_000, 1_001, 4_321]) {
    const items = Array.from({ length }, (_, at) => ({ key: random.below(50), at }));
    const compare = (one: { key: number }, other: { key: number }) => one.key - other.key;
    expect(await sortInSlices(items, compare)).toEqual(items.toSorted(compare));
  }
});
