/** Gives passages their vectors, after they answer by their words already: a provider that is away delays nothing. */
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { EditionPart, Store, UnembeddedEdition } from "../../store/store.ts";
import type { PaidEmbedding } from "../embedding/paid-embedding.ts";
import { encodeVectors } from "../retrieval/vectors/encoding.ts";

export interface EmbeddingPass {
  readonly model: string;
  /** Embeds what lacks vectors; resolves early where the provider fails, and then leaves it alone for a while. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** When to run again; null: when there is something new. */
  readonly retryAtMs: number | null;
}

interface PassParts {
  store: Pick<Store, "knowledge">;
  embedding: PaidEmbedding;
  clock: Pick<Clock, "nowMs">;
  log: Pick<Log, "info" | "warn">;
}

const editionsAtOnce = 20;
const textsPerCall = 64;
const firstRetryMs = 60_000;
const longestRetryMs = 60 * 60_000;

export function createEmbeddingPass({ store: { knowledge }, embedding, clock, log }: PassParts): EmbeddingPass {
  let retryAtMs: number | null = null;
  let retryMs = firstRetryMs;

  async function embedEdition(edition: UnembeddedEdition, signal: AbortSignal): Promise<void> {
    let at = edition.model === embedding.model ? await findFirstMissing(edition.edition) : 0;
    while (at < edition.chunks) {
      signal.throwIfAborted();
      const parts = await knowledge.readEdition(edition.edition, at);
      const texts = textsFrom(parts, at).slice(0, textsPerCall);
      if (texts.length === 0) return;
      const companion = { accountId: edition.accountId, id: edition.companionId };
      const vectors = await embedding.embed(companion, texts, signal);
      const block = { firstOrdinal: at, vectors: encodeVectors(vectors) };
      at += texts.length;
      const isLast = at >= edition.chunks;
      if (!(await knowledge.replaceVectors(edition.edition, embedding.model, [block], isLast))) return;
    }
  }

  return {
    model: embedding.model,
    get retryAtMs() {
      return retryAtMs;
    },
    async run(signal) {
      if (retryAtMs !== null && clock.nowMs() < retryAtMs) return;
      try {
        for (;;) {
          const editions = await knowledge.listUnembedded(embedding.model, editionsAtOnce);
          if (editions.length === 0) break;
          for (const edition of editions) await embedEdition(edition, signal);
        }
        retryAtMs = null;
        retryMs = firstRetryMs;
      } catch (error) {
        if (signal.aborted) return;
        log.warn("passages are not embedded yet", { retryInMs: retryMs, error });
        retryAtMs = clock.nowMs() + retryMs;
        retryMs = Math.min(2 * retryMs, longestRetryMs);
      }
    },
  };
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
