/** What is remembered of erasures, so that no turn under way brings words back. */
import { expect, test } from "bun:test";
import { createErasureMarks } from "../../src/engines/memory/coordination/erasure-marks.ts";

const key = { companionId: "c", sessionId: "s", visitorId: "v" };

test("a turn that arrived before its visitor's erasure is covered, and one from after it is not", () => {
  const erasures = createErasureMarks();
  const before = erasures.mark();
  erasures.noteVisitor("c", "v");
  expect(erasures.cover(key, before)).toBe(true);
  expect(erasures.cover(key, erasures.mark())).toBe(false);
  expect(erasures.cover({ ...key, visitorId: "other" }, before)).toBe(false);
});

test("no more are remembered than there is room for, and what had to be forgotten covers every turn from before it", () => {
  const erasures = createErasureMarks(3);
  const before = erasures.mark();
  for (const visitor of ["a", "b", "c", "d"]) erasures.noteVisitor("c", visitor);
  const later = erasures.mark();
  // Of the first nothing is known any more but when it was.
  expect(erasures.cover({ ...key, visitorId: "a" }, before)).toBe(true);
  expect(erasures.cover({ ...key, visitorId: "nobody" }, before)).toBe(true);
  expect(erasures.cover({ ...key, visitorId: "nobody" }, later)).toBe(false);
  expect(erasures.cover({ ...key, visitorId: "d" }, later - 1)).toBe(true);
});
