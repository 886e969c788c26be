/** What is left alone for a while after it has failed, and for twice as long each time. */

export interface LeftAlone<Key> {
  isLeft(key: Key, nowMs: number): boolean;
  /** Returns for how long. */
  leave(key: Key, nowMs: number): number;
  forget(key: Key): void;
  /** All that is due again. */
  forgetDue(nowMs: number): void;
  /** When the first is due again; infinite if none is left. */
  nextDueMs(): number;
}

/** Beyond so many, those left first are tried again early. */
const most = 10_000;

export function createLeftAlone<Key>({ firstMs, lastMs }: { firstMs: number; lastMs: number }): LeftAlone<Key> {
  const left = new Map<Key, { times: number; untilMs: number }>();
  return {
    isLeft: (key, nowMs) => (left.get(key)?.untilMs ?? 0) > nowMs,
    leave(key, nowMs) {
      const times = (left.get(key)?.times ?? 0) + 1;
      const delayMs = Math.min(firstMs * 2 ** (times - 1), lastMs);
      left.delete(key);
      left.set(key, { times, untilMs: nowMs + delayMs });
      const [oldest] = left.keys();
      if (left.size > most && oldest !== undefined) left.delete(oldest);
      return delayMs;
    },
    forget: (key) => void left.delete(key),
    forgetDue(nowMs) {
      for (const [key, { untilMs }] of left) if (untilMs <= nowMs) left.delete(key);
    },
    nextDueMs() {
      let nextMs = Number.POSITIVE_INFINITY;
      for (const { untilMs } of left.values()) nextMs = Math.min(nextMs, untilMs);
      return nextMs;
    },
  };
}
