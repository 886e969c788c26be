/** Lets one in at a time for each key, none too soon after the one before, the favoured ones first. */
import type { Clock } from "./clock.ts";

/** Acts once that much time has passed; what it returns forgets it before. */
export type After = (durationMs: number, act: () => void) => () => void;

export const afterTimeout: After = (durationMs, act) => {
  const timer = setTimeout(act, durationMs);
  return () => clearTimeout(timer);
};

export interface Entrant {
  /** Goes before those who are not, however long they have waited. */
  isFavoured: boolean;
  /** From the moment when the last one of the key was let in. */
  gapMs: number;
}

export interface SpacedQueue {
  /**
   * Resolves once it is the entrant's turn, with what lets the next one in; null, without waiting, where `maxWaiting`
   * of its kind wait for the key already.
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
  /** Set while the next one waits for the end of the gap. */
  stopWaiting: (() => void) | null;
}

interface SpacedQueueOptions {
  clock: Pick<Clock, "monotonicMs">;
  after?: After;
  maxWaiting: number;
  /** Keys that are remembered for the gap alone leave beyond it, the oldest first. */
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
    line.stopWaiting?.();
    line.stopWaiting = null;
    const waiting = line.favoured.length > 0 ? line.favoured : line.others;
    const [next] = waiting;
    if (line.isTaken || next === undefined) return;
    const leftMs = line.lastMs + next.gapMs - clock.monotonicMs();
    if (leftMs > 0) {
      line.stopWaiting = after(leftMs, () => admit(line, waiting));
      return;
    }
    admit(line, waiting);
  }

  function admit(line: Line, waiting: Waiter[]): void {
    line.stopWaiting = null;
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
      stopWaiting: null,
    };
    // To the end: the first ones are those that were asked for longest ago.
    lines.delete(key);
    lines.set(key, line);
    forgetOldest(line);
    return line;
  }

  function forgetOldest(newest: Line): void {
    for (const [key, line] of lines) {
      if (lines.size <= maxKeys) return;
      // Where somebody is in it, or about to be, forgetting it would let two in at once.
      if (!line.isTaken && line.stopWaiting === null && line !== newest) lines.delete(key);
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
