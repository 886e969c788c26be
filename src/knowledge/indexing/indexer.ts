import type { ClaimedSource } from "../../store/store.ts";
import type { IndexerParts } from "./parts.ts";
import { runReading } from "./reading-run.ts";

export interface Indexer {
  /** Something may be due. Returns at once. */
  wake(): void;
  /** Resolves when nothing is due and nothing is being read. For commands and tests. */
  whenIdle(): Promise<void>;
  /** Calls off what is being read, which is due again at once, and resolves when it has ended. */
  close(): Promise<void>;
}

/** Most of the time they wait for websites. Of one account one is read at a time. */
const readAtOnce = 3;
/** While anything is due some day, another server may have died over it. */
const lookAgainMs = 60_000;
const soonestMs = 250;
const leaseMs = 60_000;

/** Sleeps until `wake` unless a source is due some day: without sources there is no timer. */
export function createIndexer(parts: IndexerParts): Indexer {
  const { store, clock, log, embedding } = parts;
  const closing = new AbortController();
  const running = new Map<string, Promise<void>>();
  let looking: Promise<void> | null = null;
  let isAskedAgain = false;
  let lastAccountId: string | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;

  function wake(): void {
    isAskedAgain = true;
    if (looking !== null || closing.signal.aborted) return;
    if (timer !== null) clearTimeout(timer);
    timer = null;
    looking = look().finally(() => {
      looking = null;
      if (isAskedAgain) wake();
    });
  }

  async function look(): Promise<void> {
    try {
      while (isAskedAgain && !closing.signal.aborted) {
        isAskedAgain = false;
        while (running.size < readAtOnce) {
          const claimed = await claim();
          if (claimed === null) break;
          begin(claimed);
        }
        if (running.size === 0 && embedding !== null) await embedding.run(closing.signal);
      }
      await schedule();
    } catch (error) {
      log.error("sources are left for a minute", { error });
      arm(lookAgainMs);
    }
  }

  async function claim(): Promise<ClaimedSource | null> {
    const place = { afterAccountId: lastAccountId, exceptAccountIds: [...running.keys()] };
    const claimed = await store.knowledge.claim({ nowMs: clock.nowMs(), leaseMs, ...place });
    if (claimed !== null) lastAccountId = claimed.accountId;
    return claimed;
  }

  function begin(claimed: ClaimedSource): void {
    const { accountId } = claimed;
    const reading = runReading({ ...parts, leaseMs, model: embedding?.model ?? null }, claimed, closing.signal)
      .catch((error) => log.error("source not read", { sourceId: claimed.source.id, error }))
      .finally(() => {
        running.delete(accountId);
        wake();
      });
    running.set(accountId, reading);
  }

  async function schedule(): Promise<void> {
    const dueAt = await store.knowledge.findNextDue();
    const nextAt = Math.min(dueAt ?? Number.POSITIVE_INFINITY, embedding?.retryAtMs ?? Number.POSITIVE_INFINITY);
    if (nextAt !== Number.POSITIVE_INFINITY) arm(Math.min(Math.max(nextAt - clock.nowMs(), soonestMs), lookAgainMs));
  }

  function arm(delayMs: number): void {
    if (timer !== null) clearTimeout(timer);
    if (closing.signal.aborted) return;
    timer = setTimeout(wake, delayMs);
    timer.unref();
  }

  async function whenIdle(): Promise<void> {
    while (looking !== null || running.size > 0) await Promise.all([looking, ...running.values()]);
  }

  return {
    wake,
    whenIdle,
    async close() {
      closing.abort(new Error("the server is stopping"));
      if (timer !== null) clearTimeout(timer);
      await Promise.allSettled([looking, ...running.values()]);
      await parts.reader.close();
    },
  };
}
