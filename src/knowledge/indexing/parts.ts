/** What reading a source needs, and what one reading is. */
import type { DocumentKind, ReadDocument, SourceProgress } from "../../domain/knowledge.ts";
import type { ClaimedSource, EditionFacts, KnowledgeStore } from "../../store/store.ts";
import type { BuiltEdition } from "./edition-builder.ts";

/** Reads documents; rejects with `ReadingFailure`, or the signal's reason. */
export interface DocumentReading {
  read(
    document: { bytes: Uint8Array; kind: DocumentKind; charset: string | null },
    signal: AbortSignal,
  ): Promise<ReadDocument>;
}

export interface Validators {
  etag: string | null;
  lastModified: string | null;
}

export interface FetchedPage extends Validators {
  status: "fetched";
  bytes: Uint8Array;
  contentType: string | null;
  charset: string | null;
  finalUrl: string;
}

/** Fetches from the web; rejects with `FetchingFailure`, or the signal's reason. */
export interface PageFetching {
  fetch(url: string, options: Validators & { signal: AbortSignal }): Promise<FetchedPage | { status: "unchanged" }>;
  /** The pages of a sitemap that may be fetched. */
  listPages(url: string, signal: AbortSignal): Promise<{ urls: readonly string[]; isCut: boolean }>;
}

export interface ReadingParts {
  readonly store: KnowledgeStore;
  readonly reader: DocumentReading;
  readonly fetcher: PageFetching;
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
}
