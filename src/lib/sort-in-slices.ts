/** Sorts long lists without keeping others waiting. */
import { Slices } from "./pause.ts";

/** Sorted in one go. */
const runLength = 1_000;
/** Merged before the clock is checked. */
const stride = 500;

/** A new list, in which those that compare as equal keep their order. */
export async function sortInSlices<Item>(
  items: readonly Item[],
  compare: (one: Item, other: Item) => number,
): Promise<Item[]> {
  const slices = new Slices();
  let runs: Item[][] = [];
  for (let at = 0; at < items.length; at += runLength) {
    runs.push(items.slice(at, at + runLength).sort(compare));
    if (slices.isOver) await slices.pause();
  }
  while (runs.length > 1) {
    const merged: Item[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(await merge(runs[at] ?? [], runs[at + 1] ?? [], compare, slices));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<Item>(
  ones: readonly Item[],
  others: readonly Item[],
  compare: (one: Item, other: Item) => number,
  slices: Slices,
): Promise<Item[]> {
  const merged: Item[] = [];
  let one = 0;
  let other = 0;
  while (one < ones.length || other < others.length) {
    const isOne =
      other === others.length || (one < ones.length && compare(ones[one] as Item, others[other] as Item) <= 0);
    merged.push((isOne ? ones[one++] : others[other++]) as Item);
    if (merged.length % stride === 0 && slices.isOver) await slices.pause();
  }
  return merged;
}
