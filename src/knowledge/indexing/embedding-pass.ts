/** Gives passages their vectors, after they answer by their words already: a provider that is away delays nothing. */
import type { Companion } from "../../domain/companion.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { EditionPart, Store, UnembeddedEdition } from "../../store/store.ts";
import type { CountedEmbedder } from "../embedding/counted-embedder.ts";
import { packVectors, scaleBytes } from "../retrieval/vectors/quantised.ts";

export interface EmbeddingPass {
  readonly model: string;
  /** Embeds what lacks vectors. What fails is left alone for a while. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** When to run again; null: when there is something new. */
  readonly retryAtMs: number | null;
}

interface PassParts {
  store: Pick<Store, "knowledge" | "companions">;
  embedder: CountedEmbedder;
  clock: Pick<Clock, "nowMs">;
  log: Pick<Log, "warn">;
}

const editionsAtOnce = 20;
const firstRetryMs = 60_000;
const longestRetryMs = 60 * 60_000;

/** Its account may not spend more at the moment: others go on. */
class NotNow extends Error {}

export function createEmbeddingPass({ store, embedder, clock, log }: PassParts): EmbeddingPass {
  const { model } = embedder;
  const { knowledge } = store;
  /** Of the model's vectors; null before the first. */
  let dimensions: number | null = null;
  let retryAtMs: number | null = null;
  let retryMs = firstRetryMs;

  async function embed(companion: Companion, texts: readonly string[], signal: AbortSignal) {
    signal.throwIfAborted();
    const vectors = await embedder.embed(companion, texts, signal);
    if (vectors === null) throw new NotNow();
    dimensions = vectors[0]?.length ?? null;
    return vectors;
  }

  async function embedEdition(edition: UnembeddedEdition, signal: AbortSignal): Promise<void> {
    const companion = await store.companions.find(edition.accountId, edition.companionId);
    if (companion === null) return;
    for (const { from, to } of await findGaps(edition, companion, signal)) {
      for (let at = from; at < to; ) {
        const texts = await readTexts(edition.edition, at, Math.min(embedder.maxTexts, to - at));
        if (texts.length === 0) return;
        const vectors = packVectors(await embed(companion, texts, signal));
        const isKept = await knowledge.replaceVectors(edition.edition, model, [{ firstOrdinal: at, vectors }], false);
        if (!isKept) return;
        at += texts.length;
      }
    }
    await knowledge.replaceVectors(edition.edition, model, [], true);
  }

  /** Passages without a vector: those of pages that were taken over have theirs. */
  async function findGaps(edition: UnembeddedEdition, companion: Companion, signal: AbortSignal): Promise<Gap[]> {
    const gaps: Gap[] = [];
    let at = 0;
    while (edition.model === model) {
      const blocks = await knowledge.readVectors(edition.edition, at);
      if (blocks.length === 0) break;
      // How long vectors are is known from one.
      if (dimensions === null) await embed(companion, await readTexts(edition.edition, 0, 1), signal);
      const stride = (dimensions ?? 0) + scaleBytes;
      for (const { firstOrdinal, vectors } of blocks) {
        if (firstOrdinal > at) gaps.push({ from: at, to: firstOrdinal });
        at = firstOrdinal + Math.max(1, Math.floor(vectors.length / stride));
      }
    }
    if (at < edition.chunks) gaps.push({ from: at, to: edition.chunks });
    return gaps;
  }

  async function readTexts(edition: number, from: number, most: number): Promise<string[]> {
    return textsFrom(await knowledge.readEdition(edition, from), from).slice(0, most);
  }

  /** False if it is to be tried again later. */
  async function tryEdition(edition: UnembeddedEdition, signal: AbortSignal): Promise<boolean> {
    try {
      await embedEdition(edition, signal);
      return true;
    } catch (error) {
      if (error instanceof NotNow) return false;
      throw error;
    }
  }

  async function embedAll(signal: AbortSignal): Promise<boolean> {
    let isAll = true;
    for (let after = 0; ; ) {
      const editions = await knowledge.listUnembedded(model, after, editionsAtOnce);
      for (const edition of editions) {
        if (!(await tryEdition(edition, signal))) isAll = false;
        after = edition.edition;
      }
      if (editions.length < editionsAtOnce) return isAll;
    }
  }

  function postpone(): void {
    retryAtMs = clock.nowMs() + retryMs;
    retryMs = Math.min(2 * retryMs, longestRetryMs);
  }

  return {
    model,
    get retryAtMs() {
      return retryAtMs;
    },
    async run(signal) {
      if (retryAtMs !== null && clock.nowMs() < retryAtMs) return;
      try {
        if (!(await embedAll(signal))) {
          postpone();
          return;
        }
        retryAtMs = null;
        retryMs = firstRetryMs;
      } catch (error) {
        if (signal.aborted) return;
        log.warn("passages are not embedded yet", { retryInMs: retryMs, error });
        postpone();
      }
    },
  };
}

interface Gap {
  from: number;
  /** Exclusive. */
  to: number;
}

/** With its headings, as it is found by words. */
function textsFrom(parts: readonly EditionPart[], from: number): string[] {
  const texts: string[] = [];
  for (const { firstOrdinal, chunks } of parts) {
    for (const [index, { heading, text }] of chunks.entries()) {
      if (firstOrdinal + index >= from) texts.push(heading === null ? text : `${heading}\n${text}`);
    }
  }
  return texts;
}
