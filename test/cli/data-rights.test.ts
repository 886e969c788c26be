/** Which data directories deserve a warning. */
import { expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { findWeakness } from "../../src/cli/data-rights.ts";
import { temporaryDirectory } from "../support/temporary.ts";

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
