/** Knowledge as rows: what both engines write alike, so that a copy takes it over byte for byte. */
import type { EditionDocument, StoredChunk } from "../../../contracts/store/editions.ts";
import type { KeptText, SourceFailure, SourceUpload } from "../../../contracts/store/knowledge.ts";
import type { SeenPassage } from "../../../contracts/store/unanswered.ts";
import { AppError } from "../../../domain/errors.ts";
import {
  type DocumentKind,
  maxUploadBytes,
  type Passage,
  type Source,
  type SourceStatus,
  type SourceType,
} from "../../../domain/knowledge.ts";

/** Uploads that came to nothing are removed after this time. */
export const orphanedAfterMs = 60 * 60_000;

/** A piece of an upload: each is one commit, so it must be written within a few milliseconds. */
export const uploadPieceBytes = 512 * 1024;

/** At least one, also of nothing. */
export function toUploadPieces(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at === 0 || at < bytes.byteLength; at += uploadPieceBytes) {
    pieces.push(bytes.subarray(at, at + uploadPieceBytes));
  }
  return pieces;
}

/** The pieces from the last one on, once more bytes are behind it; null: there is none yet. */
export function extendPieces(last: Uint8Array | null, bytes: Uint8Array): Uint8Array[] {
  return toUploadPieces(last === null ? bytes : Buffer.concat([last, bytes]));
}

/** The columns of a source that make a `Source`. */
export type SourceRow = Omit<Source, "refreshAt" | "progress"> & {
  dueAt: number | null;
  pagesDone: number | null;
  pagesTotal: number | null;
};

export type StoredSource = SourceRow & KeptUpload & { number: number; edition: number | null };

export const sourceFields: readonly (keyof StoredSource)[] = [
  ...(["number", "id", "companionId", "slug", "type", "title", "url", "refreshHours", "status", "error"] as const),
  ...(["chunks", "bytes", "contentHash", "uploadHash", "dueAt", "pagesDone", "pagesTotal", "indexedAt"] as const),
  ...(["createdAt", "updatedAt", "uploadId", "uploadBytes", "kind", "edition"] as const),
];

export function toSource(row: SourceRow): Source {
  const { id, companionId, slug, type, title, url, refreshHours, status, error, chunks, bytes, contentHash } = row;
  const { uploadHash, dueAt, pagesDone, pagesTotal, indexedAt, createdAt, updatedAt } = row;
  const isSettled = status === "ready" || status === "failed";
  const progress = status === "indexing" && pagesDone !== null ? { done: pagesDone, total: pagesTotal } : null;
  return {
    ...{ id, companionId, slug, type, title, url, refreshHours, status, error, chunks, bytes, contentHash },
    ...{ uploadHash, indexedAt, refreshAt: isSettled ? dueAt : null, progress, createdAt, updatedAt },
  };
}

interface KeptUpload {
  uploadId: string | null;
  uploadBytes: number;
  uploadHash: string | null;
  kind: DocumentKind | null;
}

/** What a source has of its upload, until it was read. */
export function toKept(upload: SourceUpload | null): KeptUpload {
  if (upload === null) return { uploadId: null, uploadBytes: 0, uploadHash: null, kind: null };
  const { id: uploadId, bytes, hash: uploadHash, kind } = upload;
  return { uploadId, uploadBytes: bytes.length, uploadHash, kind };
}

/** The same once more is behind it. Throws `conflict` if that is too much. */
export function toExtended(row: ReturnType<typeof toKept>, more: SourceUpload) {
  const uploadBytes = row.uploadBytes + more.bytes.length;
  if (uploadBytes > maxUploadBytes) {
    throw new AppError("conflict", "The source of answers is full. Shorten it, or delete another source first.");
  }
  return { uploadId: row.uploadId ?? more.id, uploadBytes, uploadHash: null, kind: row.kind ?? more.kind };
}

/** Whether the upload outlives its reading: owners edit and take out a text as they wrote it. */
export function keepsUpload(type: SourceType): boolean {
  return type === "text";
}

export function toKeptText(row: { type: SourceType; uploadId: string | null; uploadBytes: number }): KeptText | null {
  const { type, uploadId, uploadBytes: bytes } = row;
  return uploadId === null || !keepsUpload(type) ? null : { uploadId, bytes };
}

/** What a failed reading leaves of a source that has `edition` answering. */
export function toFailedStatus(edition: number | null, { again }: SourceFailure): SourceStatus {
  if (again) return "queued";
  return edition === null ? "failed" : "ready";
}

/** What has words in it is stored inside this: see `toPaddedBlob`. */
const frontBytes = 600;
/** Of a row in SQLite with pages of 4096 bytes: what stays beside other rows, and what each page of the rest holds. */
const leastLocalBytes = 489;
const overflowPageBytes = 4092;

/**
 * The bytes, with so many zeros before and after that none of them stands in a page of SQLite's that other rows share. Such
 * pages are rebalanced, which leaves stale copies of rows that no later deletion overwrites; the pages that hold only the
 * rest of one row never are, and are overwritten when the row is deleted. Of a long row, SQLite keeps 489 bytes in the
 * shared page, and more if the rest would fill its last page less: so the blob fills it, and costs no page by that.
 */
export function toPaddedBlob(bytes: Uint8Array): Uint8Array {
  const pages = Math.ceil((frontBytes + bytes.byteLength - leastLocalBytes) / overflowPageBytes);
  const blob = new Uint8Array(leastLocalBytes + pages * overflowPageBytes);
  new DataView(blob.buffer).setUint32(0, bytes.byteLength);
  blob.set(bytes, frontBytes);
  return blob;
}

export function fromPaddedBlob(blob: Uint8Array): Uint8Array {
  const length = new DataView(blob.buffer, blob.byteOffset).getUint32(0);
  return blob.subarray(frontBytes, frontBytes + length);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

type EncodedChunk = [page: number | null, heading: string | null, text: string];

/** The `body` of a part. */
export function encodePart(chunks: readonly StoredChunk[]): Uint8Array {
  const encoded = chunks.map(({ page, heading, text }): EncodedChunk => [page, heading, text]);
  return toPaddedBlob(encoder.encode(JSON.stringify(encoded)));
}

export function decodePart(body: Uint8Array): StoredChunk[] {
  const encoded = JSON.parse(decoder.decode(fromPaddedBlob(body))) as EncodedChunk[];
  return encoded.map(([page, heading, text]) => ({ page, heading, text }));
}

type EncodedSeen = [n: number, edition: number, ordinal: number, isCited: 0 | 1];

/** The `seen` of a turn. */
export function encodeSeen(passages: readonly SeenPassage[]): string {
  return JSON.stringify(
    passages.map(({ n, edition, ordinal, isCited }): EncodedSeen => [n, edition, ordinal, isCited ? 1 : 0]),
  );
}

export function decodeSeen(seen: string): SeenPassage[] {
  const encoded = JSON.parse(seen) as EncodedSeen[];
  return encoded.map(([n, edition, ordinal, isCited]) => ({ n, edition, ordinal, isCited: isCited === 1 }));
}

type Extent = Pick<EditionDocument, "firstOrdinal" | "chunks">;

/** The document that the passage is of; `documents` are in order. */
export function findDocumentOf<Document extends Extent>(
  documents: readonly Document[],
  ordinal: number,
): Document | undefined {
  return documents.findLast(({ firstOrdinal, chunks }) => ordinal >= firstOrdinal && ordinal < firstOrdinal + chunks);
}

/** A document without an address of its own has its source's. */
export function toPassage(
  source: { id: string; title: string; url: string | null },
  document: Pick<EditionDocument, "title" | "url"> | undefined,
  { page, heading, text }: StoredChunk,
): Passage {
  const { id, title, url } = source;
  return { sourceId: id, title: document?.title ?? title, url: document?.url ?? url, page, heading, text };
}
