/** Which data directories deserve a warning. */
import { expect, test } from "bun:test";
import { chmodSync, statSync, writeFileSync } from "node:fs";
import { findWeakness, makeDataDir } from "../../src/cli/data-rights.ts";
import { temporaryDirectory } from "../support/temporary.ts";

test("is made for its owner alone, stays as it is where it is there, and is a sentence where it cannot be made", () => {
  using directory = temporaryDirectory();
  const path = directory.file("a/b");
  makeDataDir(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  chmodSync(path, 0o750);
  makeDataDir(path);
  expect(statSync(path).mode & 0o777).toBe(0o750);
  writeFileSync(directory.file("file"), "");
  const inFile = directory.file("file/data");
  expect(() => makeDataDir(inFile)).toThrow(
    `${directory.file("file")} is a file, so there can be no directory ${inFile}.`,
  );
});

const own = process.geteuid?.();

test.each([0o777, 0o770, 0o702, 0o1777])("warns of one that others may write in, mode %o", (mode) => {
  using directory = temporaryDirectory();
  chmodSync(directory.path, mode);
  expect(findWeakness(directory.path)?.advice).toBe(`chmod 700 ${directory.path}`);
});

test.each([0o700, 0o750, 0o755])("accepts one that others cannot change, mode %o", (mode) => {
  using directory = temporaryDirectory();
  chmodSync(directory.path, mode);
  expect(findWeakness(directory.path)).toBeNull();
});

test("warns of one that belongs to somebody else, whatever its mode", () => {
  using directory = temporaryDirectory();
  chmodSync(directory.path, 0o700);
  const somebody = (own ?? 0) + 1;
  expect(findWeakness(directory.path, somebody)?.sentence).toContain(`belongs to another user (${own};`);
});
