/** Does work that is stored somewhere and has a time at which it is due, several at a time, and sleeps in between. */

export interface DueWork<Item> {
  /** How much is done beside each other. */
  readonly atOnce: number;
  /** Whether others may add to it, or die over it, without waking this one. */
  readonly isShared: boolean;
  nowMs(): number;
  /** Takes at most so much of what is due; no one else gets it meanwhile. */
  take(limit: number): Promise<readonly Item[]>;
  /** Never rejects. */
  work(item: Item): Promise<void>;
  /** Whenever nothing more could be taken. */
  afterTaking?(): Promise<void>;
  /** Null: nothing waits. */
  findNextDue(): Promise<number | null>;
  /** It could not be asked what is due: it is asked again after a minute. */
  onFailure(error: unknown): void;
}

export interface DueWorker {
  /** Something may be due. Returns immediately. */
  wake(): void;
  /** Only asks again when to wake. Returns immediately. */
  reschedule(): void;
  /** Takes nothing more. */
  stop(): void;
  /** Resolves when nothing is under way; until `stop`, when nothing is due either. */
  whenIdle(): Promise<void>;
}

const recheckMs = 60_000;
const soonestMs = 250;

/** Sleeps until it is woken, or what it knows of is due: with nothing stored there is no timer, unless it is shared. */
export function createDueWorker<Item>(due: DueWork<Item>): DueWorker {
  const running = new Set<Promise<void>>();
  let checking: Promise<void> | null = null;
  let isAskedAgain = false;
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | null = null;

  function wake(): void {
    isAskedAgain = true;
    if (checking !== null || isStopped) return;
    if (timer !== null) clearTimeout(timer);
    timer = null;
    checking = check().finally(() => {
      checking = null;
      if (isAskedAgain) wake();
    });
  }

  async function check(): Promise<void> {
    try {
      while (isAskedAgain && !isStopped) {
        isAskedAgain = false;
        await takeAll();
        await due.afterTaking?.();
      }
      await schedule();
    } catch (error) {
      due.onFailure(error);
      arm(recheckMs);
    }
  }

  async function takeAll(): Promise<void> {
    while (running.size < due.atOnce && !isStopped) {
      const taken = await due.take(due.atOnce - running.size);
      if (taken.length === 0) return;
      for (const item of taken) begin(item);
    }
  }

  function begin(item: Item): void {
    const work = due.work(item).finally(() => {
      running.delete(work);
      wake();
    });
    running.add(work);
  }

  async function schedule(): Promise<void> {
    const dueAt = await due.findNextDue();
    if (dueAt === null && !due.isShared) return;
    const inMs = (dueAt ?? Number.POSITIVE_INFINITY) - due.nowMs();
    arm(Math.min(Math.max(inMs, soonestMs), recheckMs));
  }

  function arm(delayMs: number): void {
    if (timer !== null) clearTimeout(timer);
    if (isStopped) return;
    timer = setTimeout(wake, delayMs);
    timer.unref();
  }

  return {
    wake,
    reschedule() {
      schedule().catch(() => arm(recheckMs));
    },
    stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
    },
    async whenIdle() {
      while (checking !== null || running.size > 0) await Promise.allSettled([checking, ...running]);
    },
  };
}
