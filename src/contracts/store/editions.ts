/** Editions: the indexed states of sources, and what they consist of. */
import type { Passage, PassageRef } from "../../domain/knowledge.ts";

/** What an edition was made of. */
export interface EditionDocument {
  /** From 0; documents of an edition are in the order of their passages. */
  place: number;
  /** Null: the source's. */
  url: string | null;
  title: string;
  /** SHA-256, hex, of its text. */
  contentHash: string;
  etag: string | null;
  lastModified: string | null;
  firstOrdinal: number;
  chunks: number;
}

/** A passage as it is stored. */
export interface StoredChunk {
  page: number | null;
  heading: string | null;
  text: string;
}

/** The website's current validators of an unchanged document. */
export type NewValidators = Pick<EditionDocument, "place" | "etag" | "lastModified">;

/** Passages of one document of an edition, in a row. */
export interface EditionPart {
  firstOrdinal: number;
  chunks: readonly StoredChunk[];
}

/** The passages of a block that have a word. */
export interface Posting {
  edition: number;
  /** Of `passagesPerBlock` passages each, from 0. */
  block: number;
  /** The word as a number, 0 to 2^53 - 1. */
  term: number;
  entries: Uint8Array;
}

export interface VectorBlock {
  firstOrdinal: number;
  vectors: Uint8Array;
}

/** What is added to an edition in one commit. Callers keep it so small that it takes a few milliseconds. */
export interface EditionSlice {
  documents?: readonly EditionDocument[];
  parts?: readonly EditionPart[];
  postings?: readonly Omit<Posting, "edition">[];
  vectors?: readonly VectorBlock[];
}

/** What a whole edition is: for lists, and for the sums of the index. */
export interface EditionFacts {
  title: string;
  chunks: number;
  /** UTF-8. */
  bytes: number;
  tokens: number;
  /** Words of all passages together, as the index counts them. */
  words: number;
  contentHash: string;
  /** A notice although it is ready, such as that a sitemap was cut; null for none. */
  notice: string | null;
  /** When it is read again; null: when asked to. */
  refreshAt: number | null;
}

/** An indexed state that answers now. */
export interface LiveEdition {
  edition: number;
  sourceId: string;
  chunks: number;
  tokens: number;
  words: number;
  /** Of its vectors, which some of its passages may lack; null for none. */
  model: string | null;
}

/** A passage by its name in the index. */
export interface IndexedPassage extends Passage, PassageRef {}

export interface UnembeddedEdition {
  edition: number;
  chunks: number;
  /** Of the vectors that it has; null for none. */
  model: string | null;
  accountId: string;
  companionId: string;
  /** The key that made the companion, for usage. */
  keyId: string | null;
}
