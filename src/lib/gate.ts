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
  /** Whether the next one would be turned away. */
  readonly isFull: boolean;
}

export function createGate({ concurrency, maxWaiting }: { concurrency: number; maxWaiting: number }): Gate {
  let running = 0;
  const waiting: (() => void)[] = [];

  const isFull = () => running >= concurrency && waiting.length >= maxWaiting;

  async function enter(): Promise<void> {
    if (running < concurrency) {
      running++;
      return;
    }
    if (isFull()) throw new GateFull();
    // The one that leaves hands its place over, so `running` stays.
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }

  return {
    get isFull() {
      return isFull();
    },
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
