/** Text in pieces is read as a string is. */
import { expect, test } from "bun:test";
import { PiecedText } from "../../src/lib/pieced-text.ts";
import { createRandom } from "../support/random.ts";

const pieceUnits = 32 * 1024;

/** The string, and the same added in texts of these lengths, again and again. */
function makeBoth(text: string, lengths: readonly number[]): PiecedText {
  const pieced = new PiecedText();
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const end = at + (lengths[turn % lengths.length] ?? 1);
    pieced.add(text.slice(at, end));
    at = end;
  }
  return pieced;
}

test("it is the text, however it was added, and however it is cut", () => {
  const random = createRandom(5);
  const letters = Array.from({ length: 5 * pieceUnits + 77 }, () => random.pick(["a", "é", "品", "😀", "\n", "|"]));
  const text = letters.join("");
  for (const lengths of [[pieceUnits], [1], [7, 100_000], [pieceUnits - 1, 1, 3], [1_000_000]]) {
    const pieced = makeBoth(text, lengths);
    expect(pieced.length).toBe(text.length);
    expect(pieced.slice(0, pieced.length) === text).toBe(true);
    for (let round = 0; round < 300; round++) {
      const near = random.below(6) * pieceUnits;
      const [start, length] = [Math.max(0, near + random.below(9) - 4), random.pick([0, 1, 3, pieceUnits, 70_000])];
      expect(pieced.slice(start, start + length) === text.slice(start, start + length)).toBe(true);
      expect(pieced.charCodeAt(start)).toBe(text.charCodeAt(start));
      expect(pieced.indexOf("|", start)).toBe(text.indexOf("|", start));
    }
    expect(pieced.indexOf("z", 0)).toBe(-1);
  }
});

test("a text may be empty, or end with a piece", () => {
  const empty = new PiecedText();
  expect([empty.length, empty.slice(0, 9), empty.indexOf("a", 0), empty.charCodeAt(0)]).toEqual([
    0,
    "",
    -1,
    Number.NaN,
  ]);
  const whole = makeBoth("x".repeat(pieceUnits), [pieceUnits]);
  expect([whole.length, whole.slice(pieceUnits - 1, pieceUnits + 5), whole.charCodeAt(pieceUnits)]).toEqual([
    ...[pieceUnits, "x", Number.NaN],
  ]);
});
