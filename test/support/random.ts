/** Repeatable randomness: the same seed gives the same run. */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  /** From 0 to below 1 (mulberry32). */
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  return {
    next,
    /** A whole number from 0 to below `bound`. */
    below: (bound: number) => Math.floor(next() * bound),
    pick: <Item>(items: readonly [Item, ...Item[]]): Item => items[Math.floor(next() * items.length)] ?? items[0],
  };
}
