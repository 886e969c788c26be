/** Writes an edition of a source: passages, postings, and what they were made of, in small commits. */
import type {
  EditionDocument,
  EditionFacts,
  EditionSlice,
  KnowledgeStore,
  Posting,
  StoredChunk,
} from "../../../contracts/store/store.ts";
import { estimateTokens } from "../../../domain/conversation.ts";
import { maxChunks, passagesPerBlock, type ReadDocument } from "../../../domain/knowledge.ts";
import { Slices } from "../../../lib/pause.ts";
import { cutIntoChunks } from "../passages/chunks.ts";
import { BlockPostings } from "../retrieval/postings.ts";
import type { NumberTerm } from "../words/term-number.ts";
import { termsOfPassage } from "../words/terms.ts";

/** Passages in one part, and postings in one commit: each takes a few milliseconds. */
const passagesPerPart = 32;
const postingsPerCommit = 400;

/** Less than elsewhere: a commit of what was added may fall into the same turn of the event loop, and so may a collection. */
const sliceMs = 2;

/** The source has more passages than a companion may have. */
export class TooManyPassages extends Error {}

/** Another reading has begun, or the source is gone. */
export class Outdated extends Error {}

/** What an edition came to. */
export type BuiltEdition = Pick<EditionFacts, "chunks" | "bytes" | "tokens" | "words">;

export class EditionBuilder {
  readonly #store: Pick<KnowledgeStore, "append" | "readEdition" | "readVectors">;
  readonly #edition: number;
  readonly #signal: AbortSignal;
  readonly #documents: EditionDocument[] = [];
  readonly #built = { chunks: 0, bytes: 0, tokens: 0, words: 0 };
  #part: StoredChunk[] = [];
  readonly #numberTerm: NumberTerm;
  /** Of the passages of the block that is being filled. */
  #block: BlockPostings;
  /** Cutting goes on while the last commit is under way: whether that found the edition. */
  #appended: Promise<boolean> = Promise.resolve(true);
  readonly #slices = new Slices(sliceMs);

  constructor(
    store: Pick<KnowledgeStore, "append" | "readEdition" | "readVectors">,
    numberTerm: NumberTerm,
    edition: number,
    signal: AbortSignal,
  ) {
    this.#store = store;
    this.#numberTerm = numberTerm;
    this.#block = new BlockPostings(numberTerm);
    this.#edition = edition;
    this.#signal = signal;
  }

  /** Rejects with `TooManyPassages`, `Outdated`, or the signal's reason. */
  async addDocument(facts: Omit<EditionDocument, "place" | "firstOrdinal" | "chunks">, document: ReadDocument) {
    const firstOrdinal = this.#built.chunks;
    for (const { page, heading, text } of cutIntoChunks(document))
      await this.#add({ page, heading, text }, facts.title);
    await this.#closeDocument({ ...facts, firstOrdinal });
  }

  /** Takes over a document of an earlier edition as it is; its vectors only if they are of the same model. */
  async copyDocument(facts: EditionDocument, from: number, hasSameModel: boolean): Promise<void> {
    const firstOrdinal = this.#built.chunks;
    const end = facts.firstOrdinal + facts.chunks;
    for (let at = facts.firstOrdinal; at < end; ) {
      const parts = await this.#store.readEdition(from, at);
      if (parts.length === 0) break;
      for (const part of parts) {
        for (const [index, chunk] of part.chunks.entries()) {
          const ordinal = part.firstOrdinal + index;
          if (ordinal >= at && ordinal < end) await this.#add(chunk, facts.title);
        }
        at = Math.max(at, part.firstOrdinal + part.chunks.length);
      }
    }
    if (hasSameModel) await this.#copyVectors(facts, from, firstOrdinal);
    await this.#closeDocument({ ...facts, firstOrdinal });
  }

  /** Writes what is left, and returns the edition. */
  async finish(): Promise<BuiltEdition> {
    await this.#flushPart();
    await this.#flushPostings();
    await this.#settle();
    return { ...this.#built };
  }

  get documents(): readonly EditionDocument[] {
    return this.#documents;
  }

  async #add(chunk: StoredChunk, title: string): Promise<void> {
    this.#signal.throwIfAborted();
    if (this.#built.chunks >= maxChunks) throw new TooManyPassages();
    // The first passage of a process takes milliseconds to be cut, and then some more to make words of.
    if (this.#slices.isOver) await this.#slices.pause();
    const terms = termsOfPassage({ ...chunk, title });
    this.#block.add(terms);
    this.#part.push(chunk);
    this.#built.chunks++;
    this.#built.words += terms.length;
    this.#built.tokens += estimateTokens(chunk.text);
    this.#built.bytes += Buffer.byteLength(chunk.text);
    if (this.#part.length === passagesPerPart) await this.#flushPart();
    if (this.#block.size === passagesPerBlock) await this.#flushPostings();
  }

  async #copyVectors(facts: EditionDocument, edition: number, firstOrdinal: number): Promise<void> {
    const end = facts.firstOrdinal + facts.chunks;
    for (let at = facts.firstOrdinal; at < end; ) {
      const blocks = await this.#store.readVectors(edition, at);
      const own = blocks.filter((block) => block.firstOrdinal >= at && block.firstOrdinal < end);
      if (own.length === 0) return;
      const moved = own.map(({ firstOrdinal: first, vectors }) => {
        return { firstOrdinal: first - facts.firstOrdinal + firstOrdinal, vectors };
      });
      await this.#append({ vectors: moved });
      at = (own.at(-1)?.firstOrdinal ?? end) + 1;
    }
  }

  async #closeDocument(facts: Omit<EditionDocument, "place" | "chunks">): Promise<void> {
    // A part never holds passages of two documents, so that a document can be taken over by its parts.
    await this.#flushPart();
    const document = { ...facts, place: this.#documents.length, chunks: this.#built.chunks - facts.firstOrdinal };
    this.#documents.push(document);
    await this.#append({ documents: [document] });
  }

  async #append(slice: EditionSlice): Promise<void> {
    await this.#settle();
    // The work of a commit and what is done with its end are in one turn of the event loop.
    if (this.#slices.isOver) await this.#slices.pause();
    // A stopping server waits for this: many passages take many seconds.
    this.#signal.throwIfAborted();
    this.#appended = this.#store.append(this.#edition, slice);
    // The next caller gets the error.
    this.#appended.catch(() => undefined);
  }

  async #settle(): Promise<void> {
    if (!(await this.#appended)) throw new Outdated();
  }

  async #flushPart(): Promise<void> {
    if (this.#part.length === 0) return;
    const firstOrdinal = this.#built.chunks - this.#part.length;
    const chunks = this.#part;
    this.#part = [];
    await this.#append({ parts: [{ firstOrdinal, chunks }] });
  }

  async #flushPostings(): Promise<void> {
    if (this.#block.size === 0) return;
    const block = Math.floor((this.#built.chunks - 1) / passagesPerBlock);
    const gathered = this.#block;
    this.#block = new BlockPostings(this.#numberTerm);
    let postings: Omit<Posting, "edition">[] = [];
    for (const [term, entries] of gathered.lists()) {
      postings.push({ block, term, entries });
      if (this.#slices.isOver) await this.#slices.pause();
      if (postings.length < postingsPerCommit) continue;
      await this.#append({ postings });
      postings = [];
    }
    if (postings.length > 0) await this.#append({ postings });
  }
}
