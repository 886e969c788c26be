/** Counts of things, in words. */
import { formatNumber } from "./format.ts";

/** "1 page", "1,200 pages"; `many` where it is not made with an s. */
export function countOf(count: number, unit: string, many = `${unit}s`): string {
  return `${formatNumber(count)} ${count === 1 ? unit : many}`;
}
