/**
 * Sets of companion numbers in the metadata index: one blob per block of 4096 numbers, which is a sorted list of 16-bit
 * offsets while the set is small, and a bitmap of 512 bytes from 256 members on.
 */

export const blockSize = 4096;
const bitmapBytes = blockSize / 8;
const maxList = 255;
/** A bitmap becomes a list below this, well under 256, so that a set near the limit does not switch each time. */
const shortestBitmap = 128;

function isBitmap(set: Uint8Array): boolean {
  return set.length === bitmapBytes;
}

/** The members in ascending order. */
export function readMembers(set: Uint8Array): number[] {
  const members: number[] = [];
  if (isBitmap(set)) {
    for (let at = 0; at < bitmapBytes; at++) {
      for (let bits = set[at] ?? 0; bits !== 0; bits &= bits - 1) members.push(at * 8 + 31 - Math.clz32(bits & -bits));
    }
  } else {
    for (let at = 0; at < set.length / 2; at++) members.push(offsetAt(set, at));
  }
  return members;
}

/** Up to `limit` members below `below`, in descending order: fills a page without unpacking a whole block. */
export function readMembersBelow(set: Uint8Array, below: number, limit: number): number[] {
  const members: number[] = [];
  if (isBitmap(set)) {
    for (let at = (below - 1) >> 3; at >= 0 && members.length < limit; at--) {
      const bits = set[at] ?? 0;
      if (bits === 0) continue;
      for (let member = Math.min(below - 1, at * 8 + 7); member >= at * 8 && members.length < limit; member--) {
        if ((bits & (1 << (member & 7))) !== 0) members.push(member);
      }
    }
  } else {
    for (let at = set.length / 2 - 1; at >= 0 && members.length < limit; at--) {
      const member = offsetAt(set, at);
      if (member < below) members.push(member);
    }
  }
  return members;
}

function offsetAt(list: Uint8Array, at: number): number {
  return (list[at * 2] ?? 0) | ((list[at * 2 + 1] ?? 0) << 8);
}

function writeList(members: readonly number[]): Uint8Array {
  const list = new Uint8Array(members.length * 2);
  for (const [at, member] of members.entries()) {
    list[at * 2] = member & 0xff;
    list[at * 2 + 1] = member >> 8;
  }
  return list;
}

function setBits(bitmap: Uint8Array, members: readonly number[]): Uint8Array {
  for (const member of members) bitmap[member >> 3] = (bitmap[member >> 3] ?? 0) | (1 << (member & 7));
  return bitmap;
}

/** The set with the members added; some may already be in it. */
export function addMembers(set: Uint8Array | null, added: readonly number[]): Uint8Array {
  if (set !== null && isBitmap(set)) return setBits(set.slice(), added);
  const members = [...new Set([...(set === null ? [] : readMembers(set)), ...added])];
  if (members.length > maxList) return setBits(new Uint8Array(bitmapBytes), members);
  return writeList(members.sort((a, b) => a - b));
}

/** The set without the members, or null if it is empty then. */
export function removeMembers(set: Uint8Array, removed: readonly number[]): Uint8Array | null {
  if (isBitmap(set)) {
    const bitmap = set.slice();
    for (const member of removed) bitmap[member >> 3] = (bitmap[member >> 3] ?? 0) & ~(1 << (member & 7));
    const members = readMembers(bitmap);
    if (members.length >= shortestBitmap) return bitmap;
    return members.length === 0 ? null : writeList(members);
  }
  const gone = new Set(removed);
  const members = readMembers(set).filter((member) => !gone.has(member));
  return members.length === 0 ? null : writeList(members);
}

export function hasMember(set: Uint8Array, member: number): boolean {
  if (isBitmap(set)) return ((set[member >> 3] ?? 0) & (1 << (member & 7))) !== 0;
  let low = 0;
  let high = set.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (offsetAt(set, middle) < member) low = middle + 1;
    else high = middle;
  }
  return low * 2 < set.length && offsetAt(set, low) === member;
}

/** The intersection, or null if it is empty; the cost is bounded by the size of a block. */
export function intersect(one: Uint8Array, other: Uint8Array): Uint8Array | null {
  if (isBitmap(one) && isBitmap(other)) return intersectBitmaps(one, other);
  const [list, set] = isBitmap(one) ? [other, one] : [one, other];
  const members = readMembers(list).filter((member) => hasMember(set, member));
  return members.length === 0 ? null : writeList(members);
}

// Shared by all calls: creating views of each bitmap would cost several times as much as using them.
const words = new Uint32Array(bitmapBytes / 4);
const otherWords = new Uint32Array(bitmapBytes / 4);
const bytes = new Uint8Array(words.buffer);
const otherBytes = new Uint8Array(otherWords.buffer);

function intersectBitmaps(one: Uint8Array, other: Uint8Array): Uint8Array | null {
  bytes.set(one);
  otherBytes.set(other);
  let seen = 0;
  for (let at = 0; at < words.length; at++) {
    const both = (words[at] ?? 0) & (otherWords[at] ?? 0);
    words[at] = both;
    seen |= both;
  }
  return seen === 0 ? null : bytes.slice();
}
