/** Works off the queue of sources: takes those that are due, reads them, and lets what was read answer. */
import type { ClaimedSource } from "../../../contracts/store/store.ts";
import { createDueWorker } from "../../../lib/due-worker.ts";
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
const leaseMs = 60_000;
/** Uploads that no source refers to, because a server died between the two. */
const purgeEveryMs = 60 * 60_000;
const purgedAtOnce = 100;

interface Running {
  isFetched: boolean;
  sinceMs: number;
}

export function createIndexer(parts: IndexerParts): Indexer {
  const { store, clock, log, embedding, isShared } = parts;
  const findNumbering = openTermNumbers(store);
  const closing = new AbortController();
  const running = new Map<string, Running>();
  let lastAccountId: string | null = null;
  let embeddingRun: Promise<void> | null = null;
  let isEmbeddingAsked = false;
  let purgedAtMs = 0;

  const worker = createDueWorker<ClaimedSource>({
    atOnce: maxAtOnce,
    isShared,
    nowMs: () => clock.nowMs(),
    take: async () => (hasFreeSlot() ? await claim() : []),
    work,
    async afterTaking() {
      embed();
      await purge();
    },
    findNextDue,
    onFailure: (error) => log.error("sources are left for a minute", { error }),
  });

  function hasFreeSlot(): boolean {
    const slowSinceMs = clock.nowMs() - slowAfterMs;
    const quick = running.values().filter(({ isFetched, sinceMs }) => !isFetched || sinceMs > slowSinceMs);
    return quick.toArray().length < readAtOnce;
  }

  /** Beside the readings, which go first at the database only by chance. */
  function embed(): void {
    if (embedding === null || closing.signal.aborted || clock.nowMs() < embedding.restsUntilMs) return;
    isEmbeddingAsked = true;
    embeddingRun ??= embedAll(embedding).finally(() => {
      embeddingRun = null;
      // The timer of what is to be tried again.
      if (embedding.retryAtMs !== null) worker.reschedule();
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

  async function claim(): Promise<ClaimedSource[]> {
    const order = { afterAccountId: lastAccountId, exceptAccountIds: [...running.keys()] };
    const claimed = await store.knowledge.claim({ nowMs: clock.nowMs(), leaseMs, ...order });
    if (claimed === null) return [];
    lastAccountId = claimed.accountId;
    return [claimed];
  }

  async function work(claimed: ClaimedSource): Promise<void> {
    const { accountId, source } = claimed;
    // Uploads are large, and wait only for the one process that reads them.
    const isFetched = source.type === "url" || source.type === "sitemap";
    running.set(accountId, { isFetched, sinceMs: clock.nowMs() });
    try {
      const { runReading } = await import("./reading-run.ts");
      const model = embedding?.model ?? null;
      await runReading({ ...parts, findNumbering, leaseMs, model }, claimed, closing.signal);
    } catch (error) {
      log.error("source not read", { sourceId: source.id, error });
    } finally {
      running.delete(accountId);
    }
  }

  async function findNextDue(): Promise<number | null> {
    const dueAt = await store.knowledge.findNextDue();
    const nextAt = Math.min(dueAt ?? Number.POSITIVE_INFINITY, embedding?.retryAtMs ?? Number.POSITIVE_INFINITY);
    if (nextAt === Number.POSITIVE_INFINITY) return null;
    const nowMs = clock.nowMs();
    // What is due already waits for a reading to end, which wakes, or to be slow.
    return nextAt <= nowMs && running.size > 0 ? nowMs + slowAfterMs : nextAt;
  }

  async function whenIdle(): Promise<void> {
    for (await worker.whenIdle(); embeddingRun !== null; await worker.whenIdle()) await embeddingRun;
  }

  return {
    wake: worker.wake,
    whenIdle,
    async close() {
      closing.abort(new Error("the server is stopping"));
      worker.stop();
      // Each reading that still begins releases the source that it has acquired.
      await Promise.allSettled([worker.whenIdle(), embeddingRun]);
      await parts.reader.close();
    },
  };
}
