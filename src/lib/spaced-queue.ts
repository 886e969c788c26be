/** Lets in one entrant at a time per key, with a minimum gap between two, favoured entrants first. */
import type { Clock } from "./clock.ts";

/** Calls `act` after the duration, unless what it returns is disposed of before. */
export type After = (durationMs: number, act: () => void) => Disposable;

export const afterTimeout: After = (durationMs, act) => setTimeout(act, durationMs);

export interface Entrant {
  /** Goes before all others, however long they have waited. */
  isFavoured: boolean;
  /** Minimum time since the key's previous entrant was let in. */
  gapMs: number;
}

export interface SpacedQueue {
  /**
   * Resolves when the entrant's turn comes, with a function that lets in the next one. Returns null immediately if
   * `maxWaiting` of the same kind are already waiting for the key.
   */
  enter(key: string, entrant: Entrant): Promise<() => void> | null;
}

interface Waiter {
  gapMs: number;
  letIn(): void;
}

interface Line {
  isTaken: boolean;
  lastMs: number;
  favoured: Waiter[];
  others: Waiter[];
  /** Set while the next entrant waits for the end of the gap. */
  gap: Disposable | null;
}

interface SpacedQueueOptions {
  clock: Pick<Clock, "monotonicMs">;
  after?: After;
  maxWaiting: number;
  /** Beyond this number, keys that are kept only for their gap are dropped, the oldest first. */
  maxKeys: number;
}

export function createSpacedQueue({
  clock,
  after = afterTimeout,
  maxWaiting,
  maxKeys,
}: SpacedQueueOptions): SpacedQueue {
  const lines = new Map<string, Line>();

  function letNextIn(line: Line): void {
    line.gap?.[Symbol.dispose]();
    line.gap = null;
    const waiting = line.favoured.length > 0 ? line.favoured : line.others;
    const [next] = waiting;
    if (line.isTaken || next === undefined) return;
    const leftMs = line.lastMs + next.gapMs - clock.monotonicMs();
    if (leftMs > 0) {
      line.gap = after(leftMs, () => admit(line, waiting));
      return;
    }
    admit(line, waiting);
  }

  function admit(line: Line, waiting: Waiter[]): void {
    line.gap = null;
    line.isTaken = true;
    line.lastMs = clock.monotonicMs();
    waiting.shift()?.letIn();
  }

  function release(line: Line): void {
    line.isTaken = false;
    letNextIn(line);
  }

  function findLine(key: string): Line {
    const line = lines.get(key) ?? {
      isTaken: false,
      lastMs: Number.NEGATIVE_INFINITY,
      favoured: [],
      others: [],
      gap: null,
    };
    // Move it to the end, so that the least recently used keys come first.
    lines.delete(key);
    lines.set(key, line);
    forgetOldest(line);
    return line;
  }

  function forgetOldest(newest: Line): void {
    for (const [key, line] of lines) {
      if (lines.size <= maxKeys) return;
      // Dropping a line that is in use, or about to be, would let two in at the same time.
      if (!line.isTaken && line.gap === null && line !== newest) lines.delete(key);
    }
  }

  return {
    enter(key, { isFavoured, gapMs }) {
      const line = findLine(key);
      const waiting = isFavoured ? line.favoured : line.others;
      if (waiting.length >= maxWaiting) return null;
      return new Promise((resolve) => {
        let isIn = true;
        const leave = () => {
          if (isIn) release(line);
          isIn = false;
        };
        waiting.push({ gapMs, letIn: () => resolve(leave) });
        letNextIn(line);
      });
    },
  };
}
