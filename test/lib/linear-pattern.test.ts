/** Patterns of strangers: what they match, what is refused, and that none takes long. */
import { expect, test } from "bun:test";
import { compilePattern } from "../../src/lib/linear-pattern.ts";

async function faultOf(source: string): Promise<string> {
  return await compilePattern(source).then(
    () => "",
    (error: Error) => {
      expect(error.name).toBe("PatternFault");
      return error.message;
    },
  );
}

test.each([
  ["^\\d{4}-\\d\\d$", "2026-11", "2026-1"],
  ["b+", "abc", "ac"],
  ["^\\u00e9\\/$", "é/", "e/"],
  ["^\\u{1F44B}$", "👋", "👋👋"],
  ["^(?<year>\\d+)-$", "2026-", "-"],
  ["^\\p{Lu}", "Österreich", "österreich"],
  ["^[^]$", "\n", ""],
  ["^[\\w.-]+$", "a.b-c_1", "a b"],
  ["^.$", "👋", "ab"],
  ["(?i)grüße", "GRÜSSE GRÜẞE GRÜßE", "gruesse"],
])("%j matches %j, and not %j", async (source, text, other) => {
  const pattern = await compilePattern(source);
  expect([pattern.test(text), pattern.test(other)]).toEqual([true, false]);
});

test.each([
  ["(?=a)b", "looks ahead or behind"],
  ["(?<!a)b", "looks ahead or behind"],
  ["(a)\\1", "refers back"],
  ["(?<n>a)\\k<n>", "refers back"],
  ["(", "no regular expression"],
  ["[a", "no regular expression"],
  ["a{2", ""],
  ["a{1001}", "no regular expression"],
  ["\\Qa\\E", "\\Q"],
  ["a".repeat(2001), "longer than 2000"],
  [".{1000}.{1000}.{1000}.{1000}.{1000}", "repeats too much"],
  ["((a{1,40}){1,40}){1,40}", "repeats too much"],
  [`${"(?:".repeat(12)}ab${"){2}".repeat(12)}`, "repeats too much"],
  ["a{1,100}(?iiiiiiiiiiiii){1,100}", "repeats too much"],
  ["[{]{1000}[)]{1000}[\\]]{1000}[[:alpha:]]{1000}x{1000}", "repeats too much"],
])("of %j says %j", async (source, fault) => {
  expect(await faultOf(source)).toContain(fault);
  if (fault === "") expect(await faultOf(source)).toBe("");
});

test("knows how many steps a pattern takes, however its counts are hidden", async () => {
  const { steps } = await compilePattern("^[a-z-]{1,64}$");
  expect(steps).toBeWithin(64, 200);
  const large = ".{1,1000}".repeat(12);
  for (const source of [`[]${large}`, `\\p{L}${large}`, `(?i)${large}`, `(${large})`]) {
    expect([source, await faultOf(source)]).toEqual([source, "repeats too much"]);
  }
  // Of these, some is no syntax for the engine.
  for (const source of [`[[:]${large}`, `[a-[:alpha:]${large}[:]]`]) expect(await faultOf(source)).not.toBe("");
});

test("takes no time for what other engines try forever", async () => {
  for (const source of ["^(\\w+\\s?)*$", "(x+x+)+y", "^(a|a)*$", "^(([a-z])+.)+[A-Z]([a-z])+$"]) {
    const pattern = await compilePattern(source);
    expect(pattern.test(`${"a".repeat(50_000)}!`)).toBe(false);
    expect(pattern.test(`${"x".repeat(50_000)}!`)).toBe(false);
  }
});
