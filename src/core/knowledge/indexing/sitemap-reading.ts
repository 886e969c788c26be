/** Reads all pages of a sitemap into one edition; pages that have not changed are taken over as they are. */
import type { EditionDocument, NewValidators } from "../../../contracts/store/store.ts";
import type { ReadDocument } from "../../../domain/knowledge.ts";
import { FetchingFailure } from "../fetching/failure.ts";
import { ReadingFailure } from "../reading/failure.ts";
import type { EditionBuilder } from "./edition-builder.ts";
import {
  hashDocument,
  hashDocuments,
  type ReadingParts,
  type ReadingRun,
  type ReadSource,
  SourceProblem,
  type Validators,
} from "./parts.ts";
import { conditionsOf, isValidatedBy, openBuilder, readFetched, titleOf } from "./source-reading.ts";

/** So many pages in a row that cannot be read for now: the website is down, and the rest is postponed. */
const maxFailuresInRow = 10;

/** A page that is to be part of the edition: as it was, or read again. */
type Page =
  | { isKnown: true; known: EditionDocument }
  | ({ isKnown: false; url: string; document: ReadDocument } & Validators);

/** Rejects as `readUploaded`. */
export async function readSitemap(parts: ReadingParts, run: ReadingRun): Promise<ReadSource> {
  const { source, edition } = run.claimed;
  const { urls, isCut, disallowed, origin } = await parts.fetcher.listPages(source.url ?? "", run.signal);
  const earlier = edition === null ? [] : await parts.store.listDocuments(edition);
  const writer = new SitemapEdition(parts, run, earlier);
  const failed = await readPages(parts, run, { urls, origin, earlier, writer });
  if (failed.all === urls.length) throw failed.first;
  const notice = describe({ isCut, disallowed, pages: urls.length, failed });
  return { built: await writer.finish(new URL(origin).host), notice, validators: writer.validators };
}

interface Pages {
  urls: readonly string[];
  origin: string;
  earlier: readonly EditionDocument[];
  writer: SitemapEdition;
}

async function readPages(parts: ReadingParts, run: ReadingRun, { urls, origin, earlier, writer }: Pages) {
  const knownByUrl = new Map(earlier.map((document) => [document.url, document]));
  const failed = { all: 0, first: new SourceProblem("The sitemap names no page.", true) as Error, firstUrl: "" };
  let inRow = 0;
  for (const [index, url] of urls.entries()) {
    run.report({ done: index, total: urls.length });
    const known = knownByUrl.get(url);
    try {
      await writer.add(await readOne(parts, run, { url, origin, known }));
      inRow = 0;
    } catch (error) {
      if (!isOfPage(error)) throw error;
      if (failed.all++ === 0) Object.assign(failed, { first: error, firstUrl: url });
      // What was read of it before is better than nothing, while its website is only away.
      if (known !== undefined && isTransient(error)) await writer.add({ isKnown: true, known });
      // Pages that are gone, or are scans, are no sign for the next ones.
      inRow = isTransient(error) ? inRow + 1 : 0;
      if (inRow === maxFailuresInRow)
        throw new SourceProblem(`${inRow} pages in a row could not be read: ${error.message}`, true);
    }
  }
  return failed;
}

async function readOne(
  parts: ReadingParts,
  run: ReadingRun,
  { url, origin, known }: { url: string; origin: string; known: EditionDocument | undefined },
): Promise<Page> {
  const politeness = { obeysRobots: true, onlyOrigin: origin };
  const page = await parts.fetcher.fetch(url, { ...conditionsOf(known), ...politeness, signal: run.signal });
  if (page.status === "unchanged" && known !== undefined) return { isKnown: true, known };
  if (page.status === "unchanged") throw new SourceProblem("A page answered that it is unchanged, unasked.", true);
  const document = await readFetched(parts, page, run.signal);
  const isSame =
    known !== undefined &&
    known.contentHash === (await hashDocument(document)) &&
    known.title === titleOf(document, url);
  const { etag, lastModified } = page;
  if (isSame) return { isKnown: true, known: { ...known, etag, lastModified } };
  return { isKnown: false, url, document, etag, lastModified };
}

/** Begins an edition with the first page that differs: a sitemap without changes costs nothing but its fetching. */
class SitemapEdition {
  readonly #parts: ReadingParts;
  readonly #run: ReadingRun;
  readonly #earlier: readonly EditionDocument[];
  readonly #kept: EditionDocument[] = [];
  #builder: EditionBuilder | null = null;
  #hasSameModel = false;

  constructor(parts: ReadingParts, run: ReadingRun, earlier: readonly EditionDocument[]) {
    this.#parts = parts;
    this.#run = run;
    this.#earlier = earlier;
  }

  async add(page: Page): Promise<void> {
    if (page.isKnown && this.#builder === null) {
      this.#kept.push(page.known);
      return;
    }
    const builder = await this.#begin();
    if (page.isKnown) return await this.#takeOver(builder, page.known);
    const { url, document, etag, lastModified } = page;
    const facts = { url, title: titleOf(document, url), contentHash: await hashDocument(document), etag, lastModified };
    await builder.addDocument(facts, document);
  }

  /** Null if everything is as it was. */
  async finish(title: string): Promise<ReadSource["built"]> {
    const isSame = this.#kept.length === this.#earlier.length;
    if (this.#builder === null && isSame) return null;
    const builder = await this.#begin();
    return { ...(await builder.finish()), title, contentHash: hashDocuments(builder.documents) };
  }

  /** Of pages that are as they were, in the edition that answers. */
  get validators(): NewValidators[] {
    const before = new Map(this.#earlier.map((document) => [document.place, document]));
    return this.#kept.filter((page) => !isValidatedBy(before.get(page.place) ?? page, page));
  }

  async #begin(): Promise<EditionBuilder> {
    if (this.#builder !== null) return this.#builder;
    this.#hasSameModel = (await this.#findModel()) === this.#parts.model;
    this.#builder = await openBuilder(this.#parts, this.#run);
    for (const known of this.#kept) await this.#takeOver(this.#builder, known);
    return this.#builder;
  }

  #takeOver(builder: EditionBuilder, known: EditionDocument): Promise<void> {
    return builder.copyDocument(known, this.#run.claimed.edition ?? 0, this.#hasSameModel);
  }

  /** Of the vectors that answer until now. */
  async #findModel(): Promise<string | null> {
    const { source, edition } = this.#run.claimed;
    const live = edition === null ? [] : await this.#parts.store.listEditions(source.companionId);
    return live.find((one) => one.edition === edition)?.model ?? null;
  }
}

/** Whether only this page is concerned. */
function isOfPage(error: unknown): error is FetchingFailure | ReadingFailure | SourceProblem {
  return error instanceof FetchingFailure || error instanceof ReadingFailure || error instanceof SourceProblem;
}

/** A document that cannot be read is as it is. */
function isTransient(error: FetchingFailure | ReadingFailure | SourceProblem): boolean {
  return !(error instanceof ReadingFailure) && error.isTransient;
}

interface Pass {
  isCut: boolean;
  disallowed: number;
  pages: number;
  failed: { readonly all: number; readonly first: Error; readonly firstUrl: string };
}

const maxPathUnits = 100;

/** The remarks on a sitemap that was read. */
function describe({ isCut, disallowed, pages, failed }: Pass): string | null {
  const sentences: string[] = [];
  if (isCut) sentences.push("The sitemap names more than 500 pages: the first 500 were read.");
  if (disallowed > 0) {
    const [what, them] = disallowed === 1 ? ["1 page was", "it"] : [`${disallowed} pages were`, "them"];
    sentences.push(`${what} left out, because robots.txt does not allow ${them}.`);
  }
  if (failed.all > 0) {
    const path = new URL(failed.firstUrl).pathname.slice(0, maxPathUnits);
    const which = failed.all === 1 ? "It is" : "The first of them is";
    sentences.push(`${failed.all} of ${pages} pages could not be read. ${which} ${path}: ${failed.first.message}`);
  }
  return sentences.length === 0 ? null : sentences.join(" ");
}
