/**
 * Lists of companions that no index serves alone: in ascending order, by last change, of enabled or disabled ones, each
 * also with metadata and a name. An engine reads; what is read next is decided here.
 */

import type { CompanionQuery } from "../../../contracts/store/companions.ts";
import type { ListOrder, Page, PageRequest } from "../../../contracts/store/page.ts";
import type { Companion } from "../../../domain/companion.ts";
import { pause } from "../../../lib/pause.ts";
import { foldName } from "./companion.ts";
import { blockSize, hasMember, readMembers } from "./member-sets.ts";
import { locate } from "./metadata-blocks.ts";

/** Where a companion is in its list. Half a number more: behind a companion that was deleted. */
export interface Position {
  number: number;
  /** Only in a list by last change; else 0. */
  updatedAt: number;
}

/** What decides whether a companion is in the list, without its texts. */
export interface CompanionFacts extends Position {
  isEnabled: boolean;
  nameFolded: string;
}

/** The account's companions of which the walk takes some. */
export interface WalkedList {
  order: ListOrder;
  sinceMs: number | null;
  isEnabled: boolean | null;
}

/** By block, the highest first. */
export type MemberSets = ReadonlyMap<number, Uint8Array>;

export interface CompanionReader {
  /** The number of this id; if it is gone, half a one more than that of the one made before it. 0.5 if there is none. */
  findPosition(id: string): Promise<number>;
  /** The number of the account's companion of this id. */
  findExact(id: string): Promise<number | null>;
  findId(number: number): Promise<string | null>;
  /** The next positions after one, in order. By last change, `isEnabled` is ignored. */
  listPositions(list: WalkedList, after: Position | null, limit: number): Promise<Position[]>;
  /** How many are enabled, or disabled, up to `limit`. */
  countEnabled(isEnabled: boolean, limit: number): Promise<number>;
  /** The companions with the metadata: a set for each block, the highest first. */
  readSets(): Promise<MemberSets>;
  /** Of those that the account has, in any order. */
  readFacts(numbers: readonly number[]): Promise<CompanionFacts[]>;
  /** Of those that the account has, in the order of the numbers. */
  readCompanions(numbers: readonly number[]): Promise<Companion[]>;
}

/** Companions whose facts are read at a time: about two milliseconds. */
const positionsPerSlice = 1_000;
/** After so many, a page is what was found, with a cursor to go on. */
const positionsPerPage = 50_000;
/** So many are sorted, or asked for their metadata one by one, before the others are passed through. */
const fewPositions = 4_096;

export async function walkCompanions(
  reader: CompanionReader,
  query: CompanionQuery,
  page: PageRequest,
): Promise<Page<Companion>> {
  const { order = "desc", limit } = page;
  const list = { order, sinceMs: query.updatedSinceMs ?? null, isEnabled: query.isEnabled ?? null };
  const isByUpdate = list.sinceMs !== null;
  const { afterId, afterUpdatedAt } = page;
  const after =
    afterId === null ? null : { number: await reader.findPosition(afterId), updatedAt: afterUpdatedAt ?? 0 };
  const q = query.q === "" ? null : query.q;
  const exact = q === null ? null : await reader.findExact(q.toLowerCase());
  const folded = q === null || exact !== null ? "" : foldName(q);
  const isMatch = (facts: CompanionFacts) =>
    facts.nameFolded.includes(folded) &&
    (list.isEnabled === null || facts.isEnabled === list.isEnabled) &&
    (list.sinceMs === null || facts.updatedAt >= list.sinceMs);

  const found: Position[] = [];
  let passed: Position | null = null;
  let read = 0;
  const candidates =
    exact === null ? listCandidates(reader, query, list, after) : onlyExact(reader, query, list, after, exact);
  for await (const positions of candidates) {
    const facts = await readFactsOf(reader, positions);
    for (const position of positions) {
      const one = facts.get(position.number);
      // One that has changed since it was found is elsewhere in the list now.
      if (one !== undefined && isMatch(one) && (!isByUpdate || one.updatedAt === position.updatedAt))
        found.push(position);
    }
    passed = positions.at(-1) ?? passed;
    read += positions.length;
    if (found.length > limit || read >= positionsPerPage) break;
    await pause();
  }
  const shown = found.slice(0, limit);
  const companions = await reader.readCompanions(shown.map(({ number }) => number));
  const times = new Set(shown.map(({ updatedAt }) => updatedAt));
  const items = isByUpdate ? companions.filter(({ updatedAt }) => times.has(updatedAt)) : companions;
  const last = found.length > limit ? shown.at(-1) : read >= positionsPerPage ? passed : null;
  if (last == null) return { items, nextAfterId: null };
  // Gone meanwhile: the page before it is whole all the same.
  const nextAfterId = (await reader.findId(last.number)) ?? items.at(-1)?.id ?? null;
  return { items, nextAfterId, ...(isByUpdate ? { nextUpdatedAt: last.updatedAt } : {}) };
}

async function readFactsOf(
  reader: CompanionReader,
  positions: readonly { number: number }[],
): Promise<Map<number, CompanionFacts>> {
  const facts = await reader.readFacts(positions.map(({ number }) => number));
  return new Map(facts.map((one) => [one.number, one]));
}

/** Positions that may be in the list, in order: of the rarer of what is asked for. */
async function* listCandidates(
  reader: CompanionReader,
  { metadata }: CompanionQuery,
  list: WalkedList,
  after: Position | null,
): AsyncGenerator<Position[]> {
  if (metadata.length === 0) {
    yield* passThrough(reader, list, after);
    return;
  }
  const sets = await reader.readSets();
  const isByUpdate = list.sinceMs !== null;
  if (isByUpdate && countMembers(sets) <= fewPositions) {
    yield* sortByUpdate(reader, sets, list, after);
    return;
  }
  const { isEnabled } = list;
  const isRare = isEnabled !== null && (await reader.countEnabled(isEnabled, fewPositions + 1)) <= fewPositions;
  if (!isByUpdate && !isRare) {
    yield* readInOrder(sets, list.order, after);
    return;
  }
  for await (const positions of passThrough(reader, list, after))
    yield positions.filter(({ number }) => isIn(sets, number));
}

async function* onlyExact(
  reader: CompanionReader,
  { metadata }: CompanionQuery,
  list: WalkedList,
  after: Position | null,
  number: number,
): AsyncGenerator<Position[]> {
  if (metadata.length > 0 && !isIn(await reader.readSets(), number)) return;
  const [facts] = await reader.readFacts([number]);
  if (facts === undefined) return;
  const position = { number, updatedAt: list.sinceMs === null ? 0 : facts.updatedAt };
  if (isAfter(position, after, list.order)) yield [position];
}

async function* passThrough(
  reader: CompanionReader,
  list: WalkedList,
  after: Position | null,
): AsyncGenerator<Position[]> {
  for (let from = after; ; ) {
    const positions = await reader.listPositions(list, from, positionsPerSlice);
    yield positions;
    if (positions.length < positionsPerSlice) return;
    from = positions.at(-1) ?? null;
  }
}

async function* sortByUpdate(
  reader: CompanionReader,
  sets: MemberSets,
  { order, sinceMs }: WalkedList,
  after: Position | null,
): AsyncGenerator<Position[]> {
  const numbers = [...sets].flatMap(([block, set]) => readMembers(set).map((offset) => block * blockSize + offset));
  const facts: Position[] = [];
  for (let at = 0; at < numbers.length; at += positionsPerSlice) {
    facts.push(...(await reader.readFacts(numbers.slice(at, at + positionsPerSlice))));
  }
  const positions = facts.filter((one) => one.updatedAt >= (sinceMs ?? 0) && isAfter(one, after, order));
  positions.sort((one, other) => (isAfter(one, other, order) ? 1 : -1));
  for (let at = 0; at < positions.length; at += positionsPerSlice) yield positions.slice(at, at + positionsPerSlice);
}

function isAfter(position: Position, after: Position | null, order: ListOrder): boolean {
  if (after === null) return true;
  const distance = position.updatedAt - after.updatedAt || position.number - after.number;
  return order === "asc" ? distance > 0 : distance < 0;
}

/** By creation. */
function* readInOrder(sets: MemberSets, order: ListOrder, after: Position | null): Generator<Position[]> {
  for (const [block, set] of order === "asc" ? [...sets].toReversed() : sets) {
    const members = order === "asc" ? readMembers(set) : readMembers(set).toReversed();
    const positions = members.map((offset) => ({ number: block * blockSize + offset, updatedAt: 0 }));
    const following = positions.filter((position) => isAfter(position, after, order));
    for (let at = 0; at < following.length; at += positionsPerSlice) yield following.slice(at, at + positionsPerSlice);
  }
}

function countMembers(sets: MemberSets): number {
  let count = 0;
  for (const set of sets.values()) count += readMembers(set).length;
  return count;
}

function isIn(sets: MemberSets, number: number): boolean {
  const { block, offset } = locate(number);
  const set = sets.get(block);
  return set !== undefined && hasMember(set, offset);
}
