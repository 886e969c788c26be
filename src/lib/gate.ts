/** Lets a few run at a time, a bounded number wait in order, and turns the rest away. */

export class GateFull extends Error {
  constructor() {
    super("too many are waiting");
    this.name = "GateFull";
  }
}

export interface Gate {
  /** Runs the task in its turn; rejects with `GateFull` where no place to wait is left. */
  run<Result>(task: () => Promise<Result>): Promise<Result>;
}

export function createGate({ concurrency, maxWaiting }: { concurrency: number; maxWaiting: number }): Gate {
  let running = 0;
  const waiting: (() => void)[] = [];

  async function enter(): Promise<void> {
    if (running < concurrency) {
      running++;
      return;
    }
    if (waiting.length >= maxWaiting) throw new GateFull();
    // The one that leaves hands its place over, so `running` stays.
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }

  return {
    async run(task) {
      await enter();
      try {
        return await task();
      } finally {
        leave();
      }
    },
  };
}
