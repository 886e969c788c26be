/** Gives passages their vectors, after they answer by their words already: a provider that is away delays nothing. */
import type { EditionDocument, Store, StoredChunk, UnembeddedEdition } from "../../../contracts/store/store.ts";
import type { Companion } from "../../../domain/companion.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { CountedEmbedder } from "../embedding/counted-embedder.ts";
import { packVectors, scaleBytes } from "../retrieval/vectors/quantised.ts";

export interface EmbeddingPass {
  readonly model: string;
  /** Embeds what lacks vectors, unless another server does; ends early where the provider is away. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Before this, runs do nothing: the provider is given a pause. */
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
/** So many editions in a row, and it is the provider, not their text. */
const maxFailuresInRow = 3;
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
      // A block never reaches into another document, which may be taken over into a later edition without the others.
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

  /** What fails is postponed, so that it does not hold up others. */
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
        if (failuresInRow === maxFailuresInRow) {
          restsUntilMs = clock.nowMs() + restMs;
          return;
        }
      }
      if (listed.length < editionsAtOnce) break;
    }
    // What was due and is not here any more: no one has to be woken for it.
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

interface LeftAlone<Key> {
  isLeft(key: Key, nowMs: number): boolean;
  /** Returns for how long. */
  leave(key: Key, nowMs: number): number;
  forget(key: Key): void;
  /** All that is due again. */
  forgetDue(nowMs: number): void;
  /** When the first is due again; infinite if none is left. */
  nextDueMs(): number;
}

/** Beyond so many, those left first are tried again early. */
const most = 10_000;

/** Postpones what has failed, each time for twice as long. */
function createLeftAlone<Key>({ firstMs, lastMs }: { firstMs: number; lastMs: number }): LeftAlone<Key> {
  const left = new Map<Key, { times: number; untilMs: number }>();
  return {
    isLeft: (key, nowMs) => (left.get(key)?.untilMs ?? 0) > nowMs,
    leave(key, nowMs) {
      const times = (left.get(key)?.times ?? 0) + 1;
      const delayMs = Math.min(firstMs * 2 ** (times - 1), lastMs);
      left.delete(key);
      left.set(key, { times, untilMs: nowMs + delayMs });
      const [oldest] = left.keys();
      if (left.size > most && oldest !== undefined) left.delete(oldest);
      return delayMs;
    },
    forget: (key) => void left.delete(key),
    forgetDue(nowMs) {
      for (const [key, { untilMs }] of left) if (untilMs <= nowMs) left.delete(key);
    },
    nextDueMs() {
      let nextMs = Number.POSITIVE_INFINITY;
      for (const { untilMs } of left.values()) nextMs = Math.min(nextMs, untilMs);
      return nextMs;
    },
  };
}

interface IncompleteEdition {
  readonly edition: number;
  readonly chunks: number;
  readonly dimensions: number;
  /** Whether the vectors that it has are of the model. */
  readonly isCurrent: boolean;
  readonly documents: readonly Pick<EditionDocument, "firstOrdinal">[];
  readonly knowledge: Pick<Store["knowledge"], "readVectors" | "readEdition">;
}

/** Passages in a row, of one document. */
interface MissingVectors {
  readonly firstOrdinal: number;
  readonly texts: readonly string[];
}

/** Finds the passages of an edition that have no vector, with their texts. At most a few dozen at a time. */
async function* findMissing(of: IncompleteEdition): AsyncGenerator<MissingVectors> {
  const isThere = await mark(of);
  const begins = new Set(of.documents.map(({ firstOrdinal }) => firstOrdinal));
  for (let next = isThere.indexOf(0); next !== -1; ) {
    const parts = await of.knowledge.readEdition(of.edition, next);
    if (parts.length === 0) return;
    let end = next + 1;
    for (const { firstOrdinal, chunks } of parts) {
      let run: string[] = [];
      for (const [index, chunk] of chunks.entries()) {
        const ordinal = firstOrdinal + index;
        end = Math.max(end, ordinal + 1);
        const isMissing = ordinal >= next && isThere[ordinal] === 0;
        if (run.length > 0 && (!isMissing || begins.has(ordinal))) {
          yield { firstOrdinal: ordinal - run.length, texts: run };
          run = [];
        }
        if (isMissing) run.push(textOf(chunk));
      }
      if (run.length > 0) yield { firstOrdinal: firstOrdinal + chunks.length - run.length, texts: run };
    }
    next = isThere.indexOf(0, end);
  }
}

/** A byte for each passage: 1 where it has a vector. */
async function mark({ edition, chunks, dimensions, isCurrent, knowledge }: IncompleteEdition): Promise<Uint8Array> {
  const isThere = new Uint8Array(chunks);
  const stride = dimensions + scaleBytes;
  for (let next = 0; isCurrent && next < chunks; ) {
    const blocks = await knowledge.readVectors(edition, next);
    if (blocks.length === 0) break;
    for (const { firstOrdinal, vectors } of blocks) {
      const end = firstOrdinal + Math.floor(vectors.length / stride);
      isThere.fill(1, firstOrdinal, end);
      next = Math.max(next + 1, end);
    }
  }
  return isThere;
}

/** With its headings, which give its subject; never empty, since models refuse that. */
function textOf({ heading, text }: StoredChunk): string {
  const whole = heading === null ? text : `${heading}\n${text}`;
  return whole.trim() === "" ? "-" : whole;
}
