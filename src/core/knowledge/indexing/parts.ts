/** What reading a source needs, and what one reading is. */
import type {
  ClaimedSource,
  EditionFacts,
  KnowledgeStore,
  NewValidators,
  Store,
} from "../../../contracts/store/store.ts";
import type { SourceProgress } from "../../../domain/knowledge.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { Fetcher } from "../fetching/fetcher.ts";
import type { DocumentReader } from "../reading/reader.ts";
import type { NumberTerm } from "../words/term-number.ts";
import type { BuiltEdition } from "./edition-builder.ts";
import type { EmbeddingPass } from "./embedding-pass.ts";

/** What the server said of a page, to ask by it whether it has changed. */
export interface Validators {
  etag: string | null;
  lastModified: string | null;
}

export interface ReadingParts {
  readonly store: KnowledgeStore;
  /** Of the words of passages. */
  readonly findNumbering: () => Promise<NumberTerm>;
  readonly reader: Pick<DocumentReader, "read">;
  readonly fetcher: Pick<Fetcher, "fetch" | "listPages">;
  /** Of vectors that may be taken over; null for none. */
  readonly model: string | null;
  readonly nowMs: () => number;
}

export interface ReadingRun {
  readonly claimed: ClaimedSource;
  readonly signal: AbortSignal;
  readonly tell: (progress: SourceProgress) => void;
  /** The edition that was begun, to be dropped if the reading fails. */
  edition: number | null;
}

/** What a reading came to. */
export interface ReadSource {
  /** To be published; null: what answers is still right. */
  readonly built: (Pick<EditionFacts, "title" | "contentHash"> & BuiltEdition) | null;
  /** As in `EditionFacts`. */
  readonly notice: string | null;
  /** Of documents that are as they were: by these the next reading asks whether they have changed. */
  readonly validators: readonly NewValidators[];
}

/** What working off the queue needs. */
export interface IndexerParts {
  store: Pick<Store, "knowledge" | "serverSecrets">;
  reader: DocumentReader;
  fetcher: Pick<Fetcher, "fetch" | "listPages">;
  /** Whether other servers use the same database. */
  isShared: boolean;
  /** Null without a model for embeddings. */
  embedding: EmbeddingPass | null;
  clock: Pick<Clock, "nowMs">;
  log: Pick<Log, "info" | "warn" | "error">;
  /** How long one reading may take; an hour unless tests say otherwise. */
  longestMs?: number;
}
