/** What a search for room costs an account that is full: it runs with each of its writes. */
import { expect, test } from "bun:test";
import type { Statement } from "../../src/engines/store-shared/scripts/script.ts";
import { roomQueries, versionRoom } from "../../src/engines/store-shared/scripts/version-room.ts";

test("messages are searched once for all versions of a companion, and of so many conversations in all", () => {
  const versions = Array.from({ length: 40 }, (_, at) => {
    return { companionId: `c${at % 4}`, number: at, createdAt: at, endedAt: at + 1 };
  });
  const searches: unknown[][] = [];
  const script = versionRoom.make("a", 0);
  const answer = (asked: Statement | readonly Statement[]): unknown => {
    if (Array.isArray(asked)) return [];
    const { text, parameters } = asked as Statement;
    const [of, limit] = parameters;
    if (text === roomQueries.held) return [{ companionBytes: 1 }];
    if (text === roomQueries.oldest) return versions;
    if (text === roomQueries.conversations) return { count: Math.min(4_000, Number(limit)), lastAt: 7 };
    if (text.includes("messages")) searches.push([of, limit]);
    return [];
  };
  for (let step = script.next(); step.done !== true; ) step = script.next(answer(step.value as Statement));
  expect(searches).toEqual([
    ["c0", 5_000],
    ["c1", 5_000],
    ["c2", 2_000],
  ]);
});
