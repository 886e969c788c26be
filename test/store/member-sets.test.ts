/** Sets of the metadata index against plain sets. */
import { expect, test } from "bun:test";
import {
  addMembers,
  blockSize,
  hasMember,
  intersect,
  readMembers,
  readMembersBelow,
  removeMembers,
} from "../../src/engines/store-shared/rows/member-sets.ts";
import { createRandom } from "../support/random.ts";

const sorted = (members: Iterable<number>) => [...members].sort((one, other) => one - other);

test("hold what was added and not removed, through every form they take", () => {
  const random = createRandom(1);
  const forms = new Set<number>();
  const expected = new Set<number>();
  let set: Uint8Array | null = null;
  for (let step = 0; step < 3000; step++) {
    const isGrowing = step % 1500 < 750;
    const member = random.below(blockSize);
    if (isGrowing || set === null) {
      set = addMembers(set, [member, random.below(2) === 0 ? member : 0]);
      expected.add(member);
      if (hasMember(set, 0)) expected.add(0);
    } else {
      const from = random.below(expected.size);
      const removed = [member, ...[...expected].slice(from, from + (step % 5))];
      set = removeMembers(set, removed);
      for (const one of removed) expected.delete(one);
    }
    forms.add(set?.length === 512 ? 512 : (set?.length ?? 0) % 2);
    expect(set === null ? [] : readMembers(set)).toEqual(sorted(expected));
  }
  expect(forms.size).toBe(2);
});

test("are read from the top, a part at a time", () => {
  for (const size of [0, 1, 2, 255, 256, 300, blockSize]) {
    const members = Array.from({ length: size }, (_, at) => Math.floor((at * blockSize) / size));
    const set = addMembers(null, members);
    const found: number[] = [];
    for (let below = blockSize; ; ) {
      const part = readMembersBelow(set, below, 7);
      found.push(...part);
      const last = part.at(-1);
      if (last === undefined) break;
      below = last;
    }
    expect(found).toEqual(members.toReversed());
  }
});

test("have in common what plain sets have in common", () => {
  const random = createRandom(2);
  for (let round = 0; round < 200; round++) {
    const [one, other] = [random.below(600), random.below(600)].map(
      (size) => new Set(Array.from({ length: size }, () => random.below(round % 2 === 0 ? 700 : blockSize))),
    );
    const [oneSet, otherSet] = [addMembers(null, [...(one ?? [])]), addMembers(null, [...(other ?? [])])];
    const common = intersect(oneSet, otherSet);
    const expected = sorted([...(one ?? [])].filter((member) => other?.has(member)));
    expect(common === null ? [] : readMembers(common)).toEqual(expected);
    for (let at = 0; at < 20; at++) {
      const member = random.below(blockSize);
      expect(hasMember(oneSet, member)).toBe(one?.has(member) ?? false);
    }
  }
});
