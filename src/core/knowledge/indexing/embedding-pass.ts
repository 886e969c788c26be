/** Gives passages their vectors, after they answer by their words already: a provider that is away delays nothing. */
import type { Store, UnembeddedEdition } from "../../../contracts/store/store.ts";
import type { Companion } from "../../../domain/companion.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { CountedEmbedder } from "../embedding/counted-embedder.ts";
import { packVectors } from "../retrieval/vectors/quantised.ts";
import { createLeftAlone } from "./left-alone.ts";
import { findMissing } from "./missing-vectors.ts";

export interface EmbeddingPass {
  readonly model: string;
  /** Embeds what lacks vectors, unless another server does; ends early where the provider is away. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Before this, runs do nothing: the provider is left alone for a while. */
  readonly restsUntilMs: number;
  /** When to run again; null: when there is something new. */
  readonly retryAtMs: number | null;
}

export interface EmbeddingPassParts {
  readonly store: Pick<Store, "knowledge" | "companions">;
  readonly embedder: CountedEmbedder;
  /** Of several servers one embeds: two would pay for the same passages. */
  readonly isOurs: () => Promise<boolean>;
  readonly clock: Pick<Clock, "nowMs">;
  readonly log: Log;
}

const editionsAtOnce = 20;
/** So many editions in a row, and it is the provider, not what they say. */
const mostFailuresInRow = 3;
const restMs = 60_000;
/** Of an edition that fails again and again; doubled each time. */
const editionRetry = { firstMs: 60_000, lastMs: 60 * 60_000 };
/** An account that may not spend is asked about again after this. */
const refusedRetry = { firstMs: 15 * 60_000, lastMs: 15 * 60_000 };

export function createEmbeddingPass({ store, embedder, isOurs, clock, log }: EmbeddingPassParts): EmbeddingPass {
  const { knowledge } = store;
  const { model } = embedder;
  const editions = createLeftAlone<number>(editionRetry);
  const accounts = createLeftAlone<string>(refusedRetry);
  let restsUntilMs = 0;
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

  /** What fails is left alone, so that it holds up nobody else's. */
  async function embedOne(given: UnembeddedEdition, signal: AbortSignal): Promise<"done" | "failed"> {
    const { edition, accountId, companionId } = given;
    try {
      const companion = await store.companions.find(accountId, companionId);
      if (companion !== null && !(await embedEdition(given, companion, signal))) {
        accounts.leave(accountId, clock.nowMs());
        return "done";
      }
      editions.forget(edition);
      return "done";
    } catch (error) {
      signal.throwIfAborted();
      const delayMs = editions.leave(edition, clock.nowMs());
      log.warn("passages are not embedded for now", { model, edition, delayMs, error });
      return "failed";
    }
  }

  async function embedAll(signal: AbortSignal): Promise<void> {
    const nowMs = clock.nowMs();
    accounts.forgetDue(nowMs);
    let failuresInRow = 0;
    for (let after = 0; ; ) {
      const listed = await knowledge.listUnembedded(model, after, editionsAtOnce);
      for (const given of listed) {
        signal.throwIfAborted();
        after = given.edition;
        if (accounts.isLeft(given.accountId, nowMs) || editions.isLeft(given.edition, nowMs)) continue;
        failuresInRow = (await embedOne(given, signal)) === "done" ? 0 : failuresInRow + 1;
        if (failuresInRow === mostFailuresInRow) {
          restsUntilMs = clock.nowMs() + restMs;
          return;
        }
      }
      if (listed.length < editionsAtOnce) break;
    }
    // What was due and is not here any more: nobody is to be woken for it.
    editions.forgetDue(nowMs);
  }

  return {
    model,
    get restsUntilMs() {
      return restsUntilMs;
    },
    get retryAtMs() {
      const nextMs = Math.min(editions.nextDueMs(), accounts.nextDueMs());
      if (restsUntilMs > clock.nowMs()) return restsUntilMs;
      return Number.isFinite(nextMs) ? nextMs : null;
    },
    async run(signal) {
      if (clock.nowMs() < restsUntilMs) return;
      try {
        if (await isOurs()) return await embedAll(signal);
        editions.forgetDue(Number.POSITIVE_INFINITY);
        accounts.forgetDue(Number.POSITIVE_INFINITY);
      } catch (error) {
        if (signal.aborted) return;
        restsUntilMs = clock.nowMs() + restMs;
        log.warn("passages are not embedded for now", { model, delayMs: restMs, error });
      }
    },
  };
}
