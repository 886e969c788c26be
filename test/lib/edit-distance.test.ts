/** The edit distance of words, for suggestions. */
import { expect, test } from "bun:test";
import { editDistance, findNearest } from "../../src/lib/edit-distance.ts";

test.each([
  ["", "", 0],
  ["abc", "abc", 0],
  ["", "abc", 3],
  ["abc", "", 3],
  ["kitten", "sitting", 3],
  ["PORT", "PROT", 1],
  ["LOG", "LOGS", 1],
])("counts the steps from %p to %p as %d", (from, to, steps) => {
  expect(editDistance(from, to)).toBe(steps);
});

test("finds the nearest of several, the first of equals, and null if there are none", () => {
  expect(findNearest("sevre", ["migrate", "serve", "version"])).toBe("serve");
  expect(findNearest("abc", ["aac", "abb"])).toBe("aac");
  expect(findNearest("ab", [])).toBeNull();
});

test("finds what begins as the word does, and nothing that is far from it", () => {
  expect(findNearest("n", ["loud", "name"])).toBe("name");
  expect(findNearest("serve-all", ["migrate", "serve"])).toBe("serve");
  expect(findNearest("", ["key", "serve"])).toBeNull();
  expect(findNearest("nosuch", ["doctor", "serve"])).toBeNull();
});
