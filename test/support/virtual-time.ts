/** Time that passes only on command, with the timers that come due in it. */
import type { After } from "../../src/lib/spaced-queue.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";

export interface VirtualTime {
  clock: ManualClock;
  after: After;
  /** Advances from timer to timer, and lets everything they trigger run. */
  pass(durationMs: number): Promise<void>;
}

export function createVirtualTime(): VirtualTime {
  const clock = createManualClock();
  const timers = new Set<{ dueMs: number; act: () => void }>();

  async function settle(): Promise<void> {
    // Far more turns than any chain of promises in a test has.
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  }

  return {
    clock,
    after(durationMs, act) {
      const timer = { dueMs: clock.monotonicMs() + durationMs, act };
      timers.add(timer);
      return { [Symbol.dispose]: () => void timers.delete(timer) };
    },
    async pass(durationMs) {
      const endMs = clock.monotonicMs() + durationMs;
      for (;;) {
        await settle();
        const [next] = [...timers].sort((a, b) => a.dueMs - b.dueMs);
        if (next === undefined || next.dueMs > endMs) break;
        clock.advance(Math.max(0, next.dueMs - clock.monotonicMs()));
        timers.delete(next);
        next.act();
      }
      clock.advance(endMs - clock.monotonicMs());
    },
  };
}
