/** What reading a source needs, and what one reading is. */
import type {
  ClaimedSource,
  EditionFacts,
  KnowledgeStore,
  NewValidators,
  Store,
} from "../../../contracts/store/store.ts";
import type { ReadDocument, SourceProgress } from "../../../domain/knowledge.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { Slices } from "../../../lib/pause.ts";
import { sha256Hex } from "../../../lib/sha256.ts";
import { findPieceEnd } from "../../../lib/text-pieces.ts";
import type { Fetcher } from "../fetching/fetcher.ts";
import type { DocumentReader } from "../reading/reader.ts";
import type { NumberTerm } from "../words/term-number.ts";
import type { BuiltEdition } from "./edition-builder.ts";
import type { EmbeddingPass } from "./embedding-pass.ts";

/** The server's validators of a page, for conditional requests. */
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
  readonly report: (progress: SourceProgress) => void;
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
  /** How long one reading may take; an hour unless tests set another. */
  maxMs?: number;
}

/**
 * Why a source cannot be read, where neither its fetching nor its parsing has failed. The message is a public
 * sentence.
 */
export class SourceProblem extends Error {
  /** Whether it may pass. */
  readonly isTransient: boolean;

  constructor(sentence: string, isTransient = false) {
    super(sentence);
    this.isTransient = isTransient;
  }
}

/** A millisecond's work. */
const sliceUnits = 256 * 1024;

/** Of the text alone, its pages divided by a form feed. */
export async function hashDocument({ pages }: ReadDocument): Promise<string> {
  const hash = new Bun.SHA256();
  const slices = new Slices();
  for (const [index, { markdown }] of pages.entries()) {
    if (index > 0) hash.update("\f");
    for (let from = 0; from < markdown.length; ) {
      const slice = markdown.slice(from, from + sliceUnits + 1);
      // Each half of a pair would be hashed as a replacement character.
      const end = findPieceEnd(slice, sliceUnits);
      hash.update(slice.slice(0, end));
      from += end;
      if (slices.isOver) await slices.pause();
    }
  }
  return hash.digest("hex");
}

/** Of many documents in order, each by its address and its hash. */
export function hashDocuments(documents: readonly { url: string | null; contentHash: string }[]): string {
  return sha256Hex(documents.map(({ url, contentHash }) => `${url ?? ""} ${contentHash}\n`).join(""));
}
