/** Lets a few tasks run at a time and a bounded number wait in order; rejects the rest. */

export class SemaphoreFull extends Error {
  constructor() {
    super("too many are waiting");
    this.name = "SemaphoreFull";
  }
}

export interface Semaphore {
  /** Runs the task when its turn comes; rejects with `SemaphoreFull` if the queue is full. */
  run<Result>(task: () => Promise<Result>): Promise<Result>;
  /** Resolves when a task would have had its turn, without taking a slot or delaying anyone. Rejects as `run` does. */
  waitAlong(): Promise<void>;
}

interface Waiter {
  takesSlot: boolean;
  letIn(): void;
}

export function createSemaphore({ concurrency, maxWaiting }: { concurrency: number; maxWaiting: number }): Semaphore {
  let running = 0;
  const waiting: Waiter[] = [];
  /** Excludes waiters that take no slot. */
  let waitingForSlot = 0;

  const isFull = () => running >= concurrency && waitingForSlot >= maxWaiting;

  async function enter(takesSlot: boolean): Promise<void> {
    if (running < concurrency) {
      if (takesSlot) running++;
      return;
    }
    if (isFull()) throw new SemaphoreFull();
    if (takesSlot) waitingForSlot++;
    await new Promise<void>((letIn) => waiting.push({ takesSlot, letIn }));
  }

  /** The next waiter inherits the slot, so `running` does not change. */
  function leave(): void {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      next.letIn();
      if (!next.takesSlot) continue;
      waitingForSlot--;
      return;
    }
    running--;
  }

  return {
    waitAlong: () => enter(false),
    async run(task) {
      await enter(true);
      try {
        return await task();
      } finally {
        leave();
      }
    },
  };
}
