/** Sources as the reader makes them, for the contract suites of storage engines. */
import type { EditionFacts } from "../../src/contracts/store/editions.ts";
import type { ClaimedSource, NewSource, SourceFailure, SourceUpload } from "../../src/contracts/store/knowledge.ts";
import type { Companion } from "../../src/domain/companion.ts";
import type { Source } from "../../src/domain/knowledge.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";
import type { StoreWorld } from "./store-world.ts";

export function newUpload(text: string): SourceUpload {
  return { id: systemIds.randomUuid(), kind: "text", bytes: new TextEncoder().encode(text), hash: sha256Hex(text) };
}

/** By default a text. */
export function newSource(fields: Partial<NewSource> = {}): NewSource {
  const upload = newUpload("words");
  return { id: systemIds.uuid(), type: "text", title: "Terms", url: null, refreshHours: null, upload, ...fields };
}

export function newFacts(fields: Partial<EditionFacts> = {}): EditionFacts {
  const sums = { chunks: 1, bytes: 5, tokens: 2, words: 1 };
  return { title: "Terms", ...sums, contentHash: "hash", notice: null, refreshAt: null, ...fields };
}

export function newFailure(fields: Partial<SourceFailure> = {}): SourceFailure {
  return { sentence: "It did not work.", again: false, dueAt: null, edition: null, ...fields };
}

/** Null if there is no such upload. */
export async function readUpload(world: Pick<StoreWorld, "store">, id: string): Promise<string | null> {
  const pieces: Uint8Array[] = [];
  for (;;) {
    const piece = await world.store.knowledge.readUpload(id, pieces.length);
    if (piece === null) return pieces.length === 0 ? null : Buffer.concat(pieces).toString();
    pieces.push(piece);
  }
}

export async function makeSource(
  world: StoreWorld,
  companion: Companion,
  fields?: Partial<NewSource>,
): Promise<Source> {
  const made = await world.store.knowledge.create(
    companion.accountId,
    companion.id,
    newSource(fields),
    world.context(),
  );
  if (made === null) throw new Error("there is no such companion");
  return made;
}

/** The source that is due next; a minute of lease. */
export async function claimNext(world: StoreWorld, fields: { afterAccountId?: string } = {}): Promise<ClaimedSource> {
  const claim = { nowMs: world.clock.nowMs(), leaseMs: 60_000, afterAccountId: null, exceptAccountIds: [], ...fields };
  const claimed = await world.store.knowledge.claim(claim);
  if (claimed === null) throw new Error("nothing is due");
  return claimed;
}

/** An edition with a passage for each text, each with the posting of word 7, that is not published yet. */
export async function writeEdition(
  world: StoreWorld,
  claimed: ClaimedSource,
  texts: readonly string[],
): Promise<number> {
  const { knowledge } = world.store;
  const edition = await knowledge.openEdition(claimed, null, world.clock.nowMs());
  if (edition === null) throw new Error("the claim is outdated");
  const place = {
    place: 0,
    url: null,
    title: claimed.source.title,
    contentHash: "hash",
    etag: null,
    lastModified: null,
  };
  await knowledge.append(edition, {
    documents: [{ ...place, firstOrdinal: 0, chunks: texts.length }],
    parts: [{ firstOrdinal: 0, chunks: texts.map((text) => ({ page: null, heading: null, text })) }],
    postings: [{ block: 0, term: 7, entries: new Uint8Array([1, 2, 3]) }],
  });
  return edition;
}

/** Makes a source and lets its texts answer. */
export async function indexSource(
  world: StoreWorld,
  companion: Companion,
  texts: readonly string[],
  fields?: Partial<NewSource>,
): Promise<{ source: Source; edition: number }> {
  const source = await makeSource(world, companion, fields);
  const edition = await publishNext(world, texts, { title: source.title });
  return { source, edition };
}

/** Reads the source that is due next as these texts. */
export async function publishNext(
  world: StoreWorld,
  texts: readonly string[],
  facts: Partial<EditionFacts> = {},
): Promise<number> {
  const claimed = await claimNext(world);
  const edition = await writeEdition(world, claimed, texts);
  const whole = newFacts({ title: claimed.source.title, chunks: texts.length, ...facts });
  const verdict = await world.store.knowledge.publish(claimed, edition, whole, world.clock.nowMs());
  if (verdict !== "published") throw new Error(verdict);
  return edition;
}
