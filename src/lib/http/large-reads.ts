/**
 * Reads of peers that send faster than they are read. Bun reads 512 KiB in one go, of hundreds of connections in one
 * turn of the event loop, and what becomes of that waits for the collector: hundreds of MiB.
 */
import { edenGC } from "bun:jsc";

/** No model writes so fast. */
export const largeReadBytes = 64 * 1024;

/** Between two large reads, of any connections: 25 MiB a second. What is collected is freed by timers, which need time. */
const turnMs = 20;

/** The collector would leave 30 MiB. */
const collectEveryBytes = 512 * 1024;

let last: Promise<void> = Promise.resolve();
let uncollectedBytes = 0;

/** Resolves when the next large read may come; those who wait go on one by one, in order. */
export function takeTurn(): Promise<void> {
  const before = last;
  last = new Promise((resolve) => void before.then(() => setTimeout(resolve, turnMs)));
  return last;
}

/** To be called before a large read is worked on: what is alive meanwhile would stay until all garbage is collected. */
export function collectEarlierReads(nextBytes: number): void {
  uncollectedBytes += nextBytes;
  if (uncollectedBytes < collectEveryBytes) return;
  uncollectedBytes = 0;
  edenGC();
}

/** Frees the memory of a whole read, which is empty from then on. */
export function freeRead(read: Buffer): void {
  (read.buffer as ArrayBuffer).transfer(0);
}
