/** Reads a source into an edition: what was uploaded, or one page of the web. */
import type { EditionDocument } from "../../../contracts/store/store.ts";
import type { ReadDocument } from "../../../domain/knowledge.ts";
import { Slices } from "../../../lib/pause.ts";
import type { Fetched } from "../fetching/fetcher.ts";
import { findKind } from "../reading/kind.ts";
import { EditionBuilder, Outdated } from "./edition-builder.ts";
import {
  hashDocument,
  type ReadingParts,
  type ReadingRun,
  type ReadSource,
  SourceProblem,
  type Validators,
} from "./parts.ts";

const unchanged: ReadSource = { built: null, notice: null, validators: [] };

/** Rejects with `ReadingFailure`, `FetchingFailure`, `SourceProblem`, or the signal's reason. */
export async function readUploaded(parts: ReadingParts, run: ReadingRun): Promise<ReadSource> {
  const { uploadId, kind, source } = run.claimed;
  const pieces: Uint8Array[] = [];
  const slices = new Slices();
  for (let piece = 0; uploadId !== null; piece++) {
    const bytes = await parts.store.readUpload(uploadId, piece);
    if (bytes === null) break;
    pieces.push(bytes);
    if (slices.isOver) await slices.pause();
  }
  if (pieces.length === 0 || kind === null) throw new SourceProblem("The upload is gone. Send it again.");
  const document = await parts.reader.read({ bytes: pieces, kind, charset: null }, run.signal);
  return await buildFrom(parts, run, document, { title: source.title, etag: null, lastModified: null });
}

/** Rejects as `readUploaded`. */
export async function readPage(parts: ReadingParts, run: ReadingRun): Promise<ReadSource> {
  const { source } = run.claimed;
  const url = source.url ?? "";
  const known = await findKnown(parts, run);
  const page = await parts.fetcher.fetch(url, { ...conditionsOf(known), signal: run.signal });
  if (page.status === "unchanged") return unchanged;
  const document = await readFetched(parts, page, run.signal);
  const { etag, lastModified } = page;
  return await buildFrom(parts, run, document, { title: titleOf(document, url), etag, lastModified });
}

/** An edition of one document, unless its content is what the source has already. */
async function buildFrom(
  parts: ReadingParts,
  run: ReadingRun,
  document: ReadDocument,
  { title, ...validators }: { title: string } & Validators,
): Promise<ReadSource> {
  const contentHash = await hashDocument(document);
  const known = await findKnown(parts, run);
  // Passages are found by the words of their title, too.
  if (known?.contentHash === contentHash && known.title === title) {
    return {
      ...unchanged,
      validators: isValidatedBy(known, validators) ? [] : [{ place: known.place, ...validators }],
    };
  }
  const builder = await openBuilder(parts, run);
  await builder.addDocument({ url: null, title, contentHash, ...validators }, document);
  return { built: { title, contentHash, ...(await builder.finish()) }, notice: null, validators: [] };
}

export function isValidatedBy(known: Validators, { etag, lastModified }: Validators): boolean {
  return known.etag === etag && known.lastModified === lastModified;
}

/** What the source that is one document was made of when it was read last. */
async function findKnown({ store }: ReadingParts, { claimed }: ReadingRun): Promise<EditionDocument | undefined> {
  return claimed.edition === null ? undefined : (await store.listDocuments(claimed.edition))[0];
}

/** Begins the edition of the run. Rejects with `Outdated`. */
export async function openBuilder(
  { store, findNumbering, model, nowMs }: ReadingParts,
  run: ReadingRun,
): Promise<EditionBuilder> {
  const numberTerm = await findNumbering();
  run.edition = await store.openEdition(run.claimed, model, nowMs());
  if (run.edition === null) throw new Outdated();
  return new EditionBuilder(store, numberTerm, run.edition, run.signal);
}

/** A fetched page as a document. Rejects as `readUploaded`. */
export async function readFetched(
  { reader }: ReadingParts,
  { bytes, contentType, charset, finalUrl }: Extract<Fetched, { status: "fetched" }>,
  signal: AbortSignal,
): Promise<ReadDocument> {
  const kind = findKind(contentType, new URL(finalUrl).pathname, bytes);
  if (kind === null) {
    throw new SourceProblem("The address leads to something that is not a PDF, DOCX, HTML, Markdown, text or CSV.");
  }
  return await reader.read({ bytes, kind, charset }, signal);
}

export function conditionsOf(known: Pick<EditionDocument, "etag" | "lastModified"> | undefined): Validators {
  return { etag: known?.etag ?? null, lastModified: known?.lastModified ?? null };
}

const maxTitleUnits = 200;

/** The document's own title, or its address. */
export function titleOf(document: ReadDocument, url: string): string {
  const title = document.title?.replace(/\s+/g, " ").trim() ?? "";
  return (title === "" ? url : title).slice(0, maxTitleUnits).toWellFormed();
}
