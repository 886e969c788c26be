/** Sources of companions, the queue of those to be read, and the index of their text. */
import type { DocumentKind, PassageRef, Source, SourceStatus, SourceType } from "../../domain/knowledge.ts";
import type {
  EditionDocument,
  EditionFacts,
  EditionPart,
  EditionSlice,
  IndexedPassage,
  LiveEdition,
  NewValidators,
  Posting,
  UnembeddedEdition,
  VectorBlock,
} from "./editions.ts";
import type { Page, PageRequest } from "./page.ts";
import type { WriteContext } from "./write-context.ts";

export type {
  EditionDocument,
  EditionFacts,
  EditionPart,
  EditionSlice,
  IndexedPassage,
  LiveEdition,
  Posting,
  StoredChunk,
  UnembeddedEdition,
  VectorBlock,
} from "./editions.ts";

export interface NewSource {
  id: string;
  type: SourceType;
  title: string;
  url: string | null;
  refreshHours: number | null;
  /** What is to be read; null for a type that is fetched. At most `maxUploadBytes`. */
  upload: SourceUpload | null;
  /** What files call it: unique in the companion (`conflict`). Left out or null: none. */
  slug?: string | null;
}

export interface SourceUpload {
  /** Made up by the caller. */
  id: string;
  kind: DocumentKind;
  bytes: Uint8Array;
  /** SHA-256 of the bytes, in hex: of 20 MB it takes longer than a transaction may. */
  hash: string;
}

/** What the owner of a text wrote: kept for as long as the source. */
export interface KeptText {
  uploadId: string;
  /** UTF-8. */
  bytes: number;
}

/** What a PUT sets, beside queueing the source. What is left out stays. */
export type SourceReplacement = Partial<Pick<NewSource, "title" | "url" | "refreshHours" | "upload" | "slug">>;

/** Is given what a change is made to, inside its transaction, and may throw: then nothing changes. */
export type SourceCheck = (current: Source) => void;

/** A source that was claimed for reading. */
export interface ClaimedSource {
  source: Source;
  accountId: string;
  /** Names this claim: each PUT, refresh and claim makes another, and ends what was read under the one before. */
  revision: number;
  uploadId: string | null;
  kind: DocumentKind | null;
  /** The state that answers until now; null for none. */
  edition: number | null;
  /** Failed readings in a row, before this one; a claim whose lease was over counts as one. */
  failures: number;
  /** The key that made the companion, for usage. */
  keyId: string | null;
}

export interface Claim {
  nowMs: number;
  /** Others do not claim it for so long, or until the claim is renewed. */
  leaseMs: number;
  /** The account that was served last: accounts take turns. Null at first. */
  afterAccountId: string | null;
  /** Accounts that are being served: theirs are postponed. */
  exceptAccountIds: readonly string[];
}

/** A source whose reading has failed is `ready` with the sentence while an earlier state answers, otherwise `failed`. */
export interface SourceFailure {
  /** Public. */
  sentence: string;
  /** Whether it is tried again soon, since the cause may pass. */
  again: boolean;
  /** When it is read again; null: when asked to. */
  dueAt: number | null;
  /** The edition that was begun. */
  edition: number | null;
}

export type PublishVerdict = "published" | "outdated" | "too_many_chunks";

/**
 * A source has at most one edition that answers. An edition never changes once it is published, so what was read of it may
 * be kept under its number. What belongs to a source that was deleted, or replaced by a published edition, is found no more
 * from that commit on; the engine removes it from its storage in the background, as documented there.
 */
export interface KnowledgeStore {
  /**
   * Makes a source that is due now, and marks its companion as having sources. Null if the account has no such
   * companion; rejects with `conflict`, and keeps nothing, if it has `maxSources`. An upload is stored in pieces before; what
   * is left of one that came to nothing is removed. Audit: `source.create`, without title and URL.
   */
  create(accountId: string, companionId: string, source: NewSource, context: WriteContext): Promise<Source | null>;
  /** By id, which callers make in the order of creation. Null if the account has no such companion. */
  list(accountId: string, companionId: string, page: PageRequest): Promise<Page<Source> | null>;
  /** The same of all companions of the account; null: of any status. */
  listOfAccount(accountId: string, status: SourceStatus | null, page: PageRequest): Promise<Page<Source>>;
  find(accountId: string, companionId: string, id: string): Promise<Source | null>;
  /** The upload with what the owner of a text wrote, as it was sent last; null of other types, and if absent. */
  findText(accountId: string, companionId: string, id: string): Promise<KeptText | null>;
  /**
   * Queues it again, without `error` and failures: what answers stays until that was read. What is being read for an
   * earlier revision is dropped. Null if absent. Audit: `source.update`.
   */
  replace(
    accountId: string,
    companionId: string,
    id: string,
    change: SourceReplacement,
    context: WriteContext,
    check?: SourceCheck,
  ): Promise<Source | null>;
  /** Queues it again as it is, with the same `updatedAt`; else as `replace`. Null if absent. Audit: `source.refresh`. */
  refresh(accountId: string, companionId: string, id: string, context: WriteContext): Promise<Source | null>;
  /** No later read of any turn finds it. False if absent. Audit: `source.delete`. */
  delete(
    accountId: string,
    companionId: string,
    id: string,
    context: WriteContext,
    check?: SourceCheck,
  ): Promise<boolean>;
  /** Passages of what answers, in order, from `firstOrdinal` on. Null if the source is absent. */
  listPassages(
    accountId: string,
    companionId: string,
    id: string,
    range: { firstOrdinal: number; limit: number },
  ): Promise<IndexedPassage[] | null>;

  /** Takes the account's oldest source that is due, in state `indexing`; null if none is. Never two take the same. */
  claim(claim: Claim): Promise<ClaimedSource | null>;
  /** When the next source is due, or the next lease is over; null for neither. For the timer. */
  findNextDue(): Promise<number | null>;
  /** Prolongs the lease and stores the progress. False if outdated: others claimed it, it was queued again, or is gone. */
  renew(claimed: ClaimedSource, untilMs: number, progress: Source["progress"]): Promise<boolean>;
  /** Releases it unread, due now, without counting a failure. What was begun is dropped. False if outdated. */
  release(claimed: ClaimedSource, nowMs: number): Promise<boolean>;
  /** A piece of an upload, counted from 0, of at most 1 MiB; null after the last. */
  readUpload(uploadId: string, piece: number): Promise<Uint8Array | null>;
  /** What an edition was made of, in order. */
  listDocuments(edition: number): Promise<EditionDocument[]>;
  /** Begins an edition; `model` is that of the vectors which will be appended, null for none. Null if outdated. */
  openEdition(claimed: ClaimedSource, model: string | null, nowMs: number): Promise<number | null>;
  /**
   * False, and nothing is written, if the edition is gone: what it was made for is outdated. Lasts once it is published: a
   * crash of the machine before that may take it away.
   */
  append(edition: number, slice: EditionSlice): Promise<boolean>;
  /**
   * Replaces the edition that answers, in one commit; the upload is removed, unless it is a text, the
   * failures begin at zero, and `error` is the notice. `outdated` if another revision was asked for meanwhile, or the
   * source is gone; `too_many_chunks` if the companion's passages would be more than `maxChunks`: then the edition is
   * dropped, and the source stays claimed.
   */
  publish(claimed: ClaimedSource, edition: number, facts: EditionFacts, nowMs: number): Promise<PublishVerdict>;
  /** What answers is still right: as `publish`, but nothing of the index changes. False if outdated. */
  confirm(
    claimed: ClaimedSource,
    facts: Pick<EditionFacts, "notice" | "refreshAt"> & { validators: readonly NewValidators[] },
    nowMs: number,
  ): Promise<boolean>;
  /**
   * Drops the edition that was begun, if any, and counts a failure; what answers stays. With `again` its upload is kept,
   * otherwise it is removed, unless it is a text. False if outdated.
   */
  fail(claimed: ClaimedSource, failure: SourceFailure, nowMs: number): Promise<boolean>;
  /** Removes up to `limit` uploads of more than an hour ago that no source refers to; returns how many. */
  purge(nowMs: number, limit: number): Promise<number>;

  /** All that answers for the companion, oldest source first. One indexed lookup. */
  listEditions(companionId: string): Promise<LiveEdition[]>;
  /**
   * The postings of these words in these editions. Callers ask for at most 64 editions and 48 words in one call, so that it
   * takes a few milliseconds.
   */
  findPostings(editions: readonly number[], terms: readonly number[]): Promise<Posting[]>;
  /** In the order asked for; without those that do not answer any more. At most 100. */
  readPassages(companionId: string, refs: readonly PassageRef[]): Promise<IndexedPassage[]>;
  /**
   * Passages of an edition in order, of any state: for copying them, and for embedding. A few dozen at a time,
   * from the part on that holds `firstOrdinal`; empty at the end.
   */
  readEdition(edition: number, firstOrdinal: number): Promise<EditionPart[]>;
  /** In order, at most about 1 MiB at a time, from the first block on that begins at `firstOrdinal` or later; empty at the end. */
  readVectors(edition: number, firstOrdinal: number): Promise<VectorBlock[]>;
  /** Published editions of which some vectors are missing, or are another model's, by number. */
  listUnembedded(model: string, afterEdition: number, limit: number): Promise<UnembeddedEdition[]>;
  /**
   * Adds vectors to a published edition, in one commit; those of another model are deleted first, from when on it has none.
   * `isLast`: it has all. False if it is gone.
   */
  replaceVectors(edition: number, model: string, vectors: readonly VectorBlock[], isLast: boolean): Promise<boolean>;
}
