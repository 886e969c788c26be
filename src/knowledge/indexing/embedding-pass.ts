/** Gives passages their vectors, after they answer by their words already: a provider that is away delays nothing. */
import type { Companion } from "../../domain/companion.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Store, UnembeddedEdition } from "../../store/store.ts";
import type { CountedEmbedder } from "../embedding/counted-embedder.ts";
import { packVectors } from "../retrieval/vectors/quantised.ts";
import { findMissing } from "./missing-vectors.ts";

export interface EmbeddingPass {
  readonly model: string;
  /** Embeds what lacks vectors; resolves early where the provider fails, and then leaves it alone for a while. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** When to run again; null: when there is something new. */
  readonly retryAtMs: number | null;
}

export interface EmbeddingPassParts {
  readonly store: Pick<Store, "knowledge" | "companions">;
  readonly embedder: CountedEmbedder;
  readonly clock: Pick<Clock, "nowMs">;
  readonly log: Log;
}

const editionsAtOnce = 20;
/** Doubled with each failure in a row. */
const firstRetryMs = 60_000;
const lastRetryMs = 60 * 60_000;
/** An account that may not spend is asked about again after this. */
const refusedRetryMs = 15 * 60_000;

export function createEmbeddingPass({ store, embedder, clock, log }: EmbeddingPassParts): EmbeddingPass {
  const { knowledge } = store;
  const { model } = embedder;
  let failures = 0;
  let retryAtMs: number | null = null;
  /** Of the model; known with its first vector. */
  let dimensions: number | null = null;

  /** False: the account may not spend. */
  async function embedEdition(given: UnembeddedEdition, companion: Companion, signal: AbortSignal): Promise<boolean> {
    const { edition } = given;
    const documents = await knowledge.listDocuments(edition);
    if (dimensions === null) {
      const [known] = (await embedder.embed(companion, ["dimensions"], signal)) ?? [];
      if (known === undefined) return false;
      dimensions = known.length;
    }
    const missing = findMissing({ ...given, dimensions, isCurrent: given.model === model, documents, knowledge });
    for await (const { firstOrdinal, texts } of missing) {
      // A block never reaches into another document, which may be taken over into a later edition by itself.
      for (let at = 0; at < texts.length; ) {
        signal.throwIfAborted();
        const batch = texts.slice(at, at + embedder.maxTexts);
        const vectors = await embedder.embed(companion, batch, signal);
        if (vectors === null) return false;
        const block = { firstOrdinal: firstOrdinal + at, vectors: packVectors(vectors) };
        if (!(await knowledge.replaceVectors(edition, model, [block], false))) return true;
        at += batch.length;
      }
    }
    await knowledge.replaceVectors(edition, model, [], true);
    return true;
  }

  async function embedAll(signal: AbortSignal): Promise<void> {
    const refused = new Set<string>();
    for (let after = 0; ; ) {
      const editions = await knowledge.listUnembedded(model, after, editionsAtOnce);
      for (const given of editions) {
        signal.throwIfAborted();
        after = given.edition;
        if (refused.has(given.accountId)) continue;
        const companion = await store.companions.find(given.accountId, given.companionId);
        if (companion !== null && !(await embedEdition(given, companion, signal))) refused.add(given.accountId);
      }
      if (editions.length < editionsAtOnce) break;
    }
    retryAtMs = refused.size > 0 ? clock.nowMs() + refusedRetryMs : null;
  }

  return {
    model,
    get retryAtMs() {
      return retryAtMs;
    },
    async run(signal) {
      if (retryAtMs !== null && clock.nowMs() < retryAtMs) return;
      try {
        await embedAll(signal);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        const delayMs = Math.min(firstRetryMs * 2 ** failures++, lastRetryMs);
        retryAtMs = clock.nowMs() + delayMs;
        log.warn("passages are not embedded for now", { model, delayMs, error });
      }
    },
  };
}
