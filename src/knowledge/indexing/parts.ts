/** What reading a source needs, and what one reading is. */
import type { SourceProgress } from "../../domain/knowledge.ts";
import type { ClaimedSource, EditionFacts, KnowledgeStore } from "../../store/store.ts";
import type { Fetcher } from "../fetching/fetcher.ts";
import type { DocumentReader } from "../reading/reader.ts";
import type { BuiltEdition } from "./edition-builder.ts";

/** What the server said of a page, to ask by it whether it has changed. */
export interface Validators {
  etag: string | null;
  lastModified: string | null;
}

export interface ReadingParts {
  readonly store: KnowledgeStore;
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
}
