/** Schemas are made when they are first needed, and once. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { Type as t } from "@sinclair/typebox";
import { AppError } from "../../src/domain/errors.ts";
import { compileChecker, Nullable, Text } from "../../src/http/schemas/schema.ts";

test("a start makes no schema: the first request that needs one does", async () => {
  const script = join(import.meta.dir, "../support/schema-count-process.ts");
  const child = Bun.spawn([process.execPath, script], { stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect({ exitCode: await child.exited, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const { bySitemap, byDescriptions } = JSON.parse(stdout);
  expect(bySitemap).toBe(0);
  // Or else nothing was counted above.
  expect(byDescriptions).toBeGreaterThan(100);
});

test("a checker creates its schema once, whoever uses it first", () => {
  let made = 0;
  const checker = compileChecker(() => {
    made++;
    return t.Object({ name: t.String() });
  });
  expect(made).toBe(0);
  expect(checker.check({ name: "Ada" })).toEqual({ name: "Ada" });
  expect(() => checker.check({})).toThrow(AppError);
  expect(checker.schema).toBe(checker.schema);
  expect(made).toBe(1);
});

test("a text keeps its rules and its sentence where it may be left out or null, and shows neither in the document", () => {
  const even = Text({ accepts: (text) => text.length % 2 === 0, problem: "Must be even.", pattern: "^a*$" });
  const checker = compileChecker(() =>
    t.Object({ plain: even, left: t.Optional(even), empty: Nullable(even), both: t.Optional(Nullable(even)) }),
  );
  const faults = ["plain", "left", "empty", "both"].map((param) => ({ param, detail: "Must be even." }));
  for (const bad of ["a", "bb"]) {
    expect(checker.listErrors({ plain: bad, left: bad, empty: bad, both: bad })).toEqual(faults);
  }
  expect(checker.listErrors({ plain: "aa", left: "aa", empty: null })).toEqual([]);
  expect(JSON.stringify(even)).toBe('{"pattern":"^a*$","type":"string"}');
});

test("a list of another length is told how many entries there must be", () => {
  const of = (options: object) => t.Array(t.Integer(), options);
  const checker = compileChecker(() =>
    t.Object({
      most: of({ maxItems: 2 }),
      least: of({ minItems: 2 }),
      range: of({ minItems: 1, maxItems: 9 }),
      pair: of({ minItems: 2, maxItems: 2 }),
    }),
  );
  expect(checker.listErrors({ most: [1, 2, 3], least: [], range: [], pair: [1] })).toEqual([
    { param: "most", detail: "Must be a list of at most 2 entries." },
    { param: "least", detail: "Must be a list of at least 2 entries." },
    { param: "range", detail: "Must be a list of 1 to 9 entries." },
    { param: "pair", detail: "Must be a list of 2 entries." },
  ]);
});

test("a list with an entry twice is said to have one, whatever its length", () => {
  const checker = compileChecker(() => t.Object({ events: t.Array(t.String(), { maxItems: 9, uniqueItems: true }) }));
  expect(checker.listErrors({ events: ["one", "one"] })).toEqual([
    { param: "events", detail: "Must not have an entry twice." },
  ]);
});
