/** Lets a few run at a time, a bounded number wait in order, and turns the rest away. */

export class SemaphoreFull extends Error {
  constructor() {
    super("too many are waiting");
    this.name = "SemaphoreFull";
  }
}

export interface Semaphore {
  /** Runs the task in its turn; rejects with `SemaphoreFull` where no place to wait is left. */
  run<Result>(task: () => Promise<Result>): Promise<Result>;
  /** Resolves when a task would have had its turn; takes no place, and holds nobody up. Rejects as `run` does. */
  waitAlong(): Promise<void>;
}

interface Waiter {
  takesPlace: boolean;
  letIn(): void;
}

export function createSemaphore({ concurrency, maxWaiting }: { concurrency: number; maxWaiting: number }): Semaphore {
  let running = 0;
  const waiting: Waiter[] = [];
  /** Without those who take none. */
  let placesTaken = 0;

  const isFull = () => running >= concurrency && placesTaken >= maxWaiting;

  async function enter(takesPlace: boolean): Promise<void> {
    if (running < concurrency) {
      if (takesPlace) running++;
      return;
    }
    if (isFull()) throw new SemaphoreFull();
    if (takesPlace) placesTaken++;
    await new Promise<void>((letIn) => waiting.push({ takesPlace, letIn }));
  }

  /** The one that leaves hands its place over, so `running` stays. */
  function leave(): void {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      next.letIn();
      if (!next.takesPlace) continue;
      placesTaken--;
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
