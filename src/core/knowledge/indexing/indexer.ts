/** Works off the queue of sources: takes those that are due, reads them, and lets what was read answer. */
import type { ClaimedSource } from "../../../contracts/store/store.ts";
import { openTermNumbers } from "../words/term-number.ts";
import type { EmbeddingPass } from "./embedding-pass.ts";
import type { IndexerParts } from "./parts.ts";

export interface Indexer {
  /** Something may be due. Returns immediately. */
  wake(): void;
  /** Resolves when nothing is due and nothing is being read. For commands and tests. */
  whenIdle(): Promise<void>;
  /** Calls off what is being read, which is due again immediately, and resolves when it has ended. */
  close(): Promise<void>;
}

/** Of one account one is read at a time. */
const readAtOnce = 3;
/** With those that have waited for their websites for so long: a few slow ones must not take up all slots. */
const maxAtOnce = 16;
const slowAfterMs = 10_000;
/** While anything is due some day, another server may have died over it. */
const lookAgainMs = 60_000;
const soonestMs = 250;
const leaseMs = 60_000;
/** Uploads that no source refers to, because a server died between the two. */
const purgeEveryMs = 60 * 60_000;
const purgedAtOnce = 100;

interface Running {
  done: Promise<void>;
  isFetched: boolean;
  sinceMs: number;
}

/** Sleeps until `wake` unless a source is due some day: without sources there is no timer. */
export function createIndexer(parts: IndexerParts): Indexer {
  const { store, clock, log, embedding, isShared } = parts;
  const findNumbering = openTermNumbers(store);
  const closing = new AbortController();
  const running = new Map<string, Running>();
  let looking: Promise<void> | null = null;
  let isAskedAgain = false;
  let lastAccountId: string | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let embeddingRun: Promise<void> | null = null;
  let isEmbeddingAsked = false;
  let purgedAtMs = 0;

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
        while (hasPlace() && !closing.signal.aborted) {
          const claimed = await claim();
          if (claimed === null) break;
          begin(claimed);
        }
        embed();
        await purge();
      }
      await schedule();
    } catch (error) {
      log.error("sources are left for a minute", { error });
      arm(lookAgainMs);
    }
  }

  function hasPlace(): boolean {
    const slowSinceMs = clock.nowMs() - slowAfterMs;
    const quick = running.values().filter(({ isFetched, sinceMs }) => !isFetched || sinceMs > slowSinceMs);
    return running.size < maxAtOnce && quick.toArray().length < readAtOnce;
  }

  /** Beside the readings, which go first at the database only by chance. */
  function embed(): void {
    if (embedding === null || closing.signal.aborted || clock.nowMs() < embedding.restsUntilMs) return;
    isEmbeddingAsked = true;
    embeddingRun ??= embedAll(embedding).finally(() => {
      embeddingRun = null;
      // The timer of what is to be tried again.
      if (embedding.retryAtMs !== null) schedule().catch(() => arm(lookAgainMs));
    });
  }

  /** Once more after what was published meanwhile. */
  async function embedAll(pass: EmbeddingPass): Promise<void> {
    while (isEmbeddingAsked && !closing.signal.aborted) {
      isEmbeddingAsked = false;
      await pass.run(closing.signal);
    }
  }

  async function purge(): Promise<void> {
    const nowMs = clock.nowMs();
    if (nowMs - purgedAtMs < purgeEveryMs) return;
    purgedAtMs = nowMs;
    await store.knowledge.purge(nowMs, purgedAtOnce);
  }

  async function claim(): Promise<ClaimedSource | null> {
    const place = { afterAccountId: lastAccountId, exceptAccountIds: [...running.keys()] };
    const claimed = await store.knowledge.claim({ nowMs: clock.nowMs(), leaseMs, ...place });
    if (claimed !== null) lastAccountId = claimed.accountId;
    return claimed;
  }

  function begin(claimed: ClaimedSource): void {
    const { accountId, source } = claimed;
    const done = read(claimed)
      .catch((error) => log.error("source not read", { sourceId: claimed.source.id, error }))
      .finally(() => {
        running.delete(accountId);
        wake();
      });
    // Uploads are large, and wait only for the one process that reads them.
    const isFetched = source.type === "url" || source.type === "sitemap";
    running.set(accountId, { done, isFetched, sinceMs: clock.nowMs() });
  }

  async function read(claimed: ClaimedSource): Promise<void> {
    const { runReading } = await import("./reading-run.ts");
    const model = embedding?.model ?? null;
    await runReading({ ...parts, findNumbering, leaseMs, model }, claimed, closing.signal);
  }

  async function schedule(): Promise<void> {
    const dueAt = await store.knowledge.findNextDue();
    const nextAt = Math.min(dueAt ?? Number.POSITIVE_INFINITY, embedding?.retryAtMs ?? Number.POSITIVE_INFINITY);
    // No one would wake this server for a source that another one acquires while this one sleeps, and then dies over.
    if (nextAt === Number.POSITIVE_INFINITY && !isShared) return;
    // What is due already waits for a reading to end, which wakes, or to be slow.
    const inMs = nextAt - clock.nowMs();
    arm(inMs <= 0 && running.size > 0 ? slowAfterMs : Math.min(Math.max(inMs, soonestMs), lookAgainMs));
  }

  function arm(delayMs: number): void {
    if (timer !== null) clearTimeout(timer);
    if (closing.signal.aborted) return;
    timer = setTimeout(wake, delayMs);
    timer.unref();
  }

  const listRunning = () => running.values().map(({ done }) => done);

  async function whenIdle(): Promise<void> {
    while (looking !== null || running.size > 0 || embeddingRun !== null) {
      await Promise.all([looking, embeddingRun, ...listRunning()]);
    }
  }

  return {
    wake,
    whenIdle,
    async close() {
      closing.abort(new Error("the server is stopping"));
      if (timer !== null) clearTimeout(timer);
      // First what may still begin a reading: each releases the source that it has acquired.
      await Promise.allSettled([looking, embeddingRun]);
      await Promise.allSettled(listRunning());
      await parts.reader.close();
    },
  };
}
