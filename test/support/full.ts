/**
 * What `bun run full` runs beside the gate, where `COMPANIOND_TEST_FULL=1` is set: what is expensive and seldom broken, and
 * where the gate already runs another of its kind. Files named `*.full.test.ts` are in it as a whole.
 */
import { test } from "bun:test";

export const isFull = process.env["COMPANIOND_TEST_FULL"] === "1";

/** A test of `full` alone. In the gate there is none of this name. */
export const testInFull: (name: string, run: () => Promise<void>, timeoutMs?: number) => void = isFull
  ? test
  : () => {};

/** The first of them in the gate, which stands for the others; all of them in `full`. */
export function someOf<Kind>(kinds: readonly Kind[], inGate = 1): readonly Kind[] {
  return isFull ? kinds : kinds.slice(0, inGate);
}
