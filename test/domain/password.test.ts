/** Which passwords may be set. */
import { expect, test } from "bun:test";
import { dictionary } from "@zxcvbn-ts/language-common";
import { findPasswordProblem } from "../../src/domain/password.ts";

test("refuses the ten thousand most common passwords, in any case", () => {
  const commonest: readonly string[] = dictionary["passwords-common"].slice(0, 10_000);
  expect(commonest).toHaveLength(10_000);
  const taken = commonest.filter((word) => findPasswordProblem(word) === null);
  expect(taken).toEqual([]);
  expect(findPasswordProblem("QwertyUiop")).toContain("one of the most common passwords");
});

test("counts characters, not what they are made of", () => {
  expect(findPasswordProblem("ninechars")).toContain("at least 10 characters");
  expect(findPasswordProblem("😀".repeat(9))).toContain("at least 10 characters");
  expect(findPasswordProblem("😀".repeat(10))).toBeNull();
  expect(findPasswordProblem("😀".repeat(257))).toContain("at most 1024 bytes");
});

test("accepts anything else: parts of listed words, several of them, white space", () => {
  for (const password of ["qwertyuiop 1234567890", "werty 12345", "correct horse battery staple", " ".repeat(10)]) {
    expect(findPasswordProblem(password)).toBeNull();
  }
});
