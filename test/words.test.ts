/** Holds texts that people read, which cannot change once they are released, and the source to the word list in docs/words.md. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { listPublicTexts, listScreenTexts, proseOf, textsOf } from "./support/public-texts.ts";
import { findWords, readWordRules } from "./support/word-rules.ts";

const rules = readWordRules(readFileSync(join(import.meta.dir, "../docs/words.md"), "utf8"));

test("texts that people read keep to the word list", () => {
  const texts = listPublicTexts();
  expect(texts.length).toBeGreaterThan(1000);
  expect(texts.flatMap((text) => findWords(text, rules))).toEqual([]);
});

/** Where `place` is the name of a column; and words that are data. */
const namedByColumn =
  /^src\/(?:core\/knowledge\/indexing|contracts\/store\/editions|engines\/(?:store-shared\/(?:scripts|tables)|sqlite|postgres)\/(?:knowledge|message-search))/;
const data = "src/core/knowledge/words/stop-words.ts";

test("names and comments of the source keep to the word list", () => {
  const root = join(import.meta.dir, "..");
  const paths = [...new Glob("src/**/*.{ts,tsx}").scanSync({ cwd: root })];
  const found = paths.flatMap((path) => {
    if (path === data || path.includes("/generated/")) return [];
    const source = readFileSync(join(root, path), "utf8");
    const text = namedByColumn.test(path) ? source.replaceAll(/\bplace\b/g, "_____") : source;
    return findWords({ path, text, lineOf: (index) => text.slice(0, index).split("\n").length }, rules);
  });
  expect(paths.length).toBeGreaterThan(1000);
  expect(found).toEqual([]);
});

/** What a native would not write on a screen, whatever is fine in the documentation. */
const notOnScreens = /\b(?:by (?:itself|themselves)|for ever|whoever|(?:no|some|every)body|at once|e-mail|anew)\b/i;

test("screens speak as a native does", () => {
  const texts = listScreenTexts();
  expect(texts.length).toBeGreaterThan(300);
  const found = texts.flatMap(({ path, text, lineOf }) => {
    const { 0: words, index } = notOnScreens.exec(text) ?? { 0: "", index: -1 };
    return index < 0 ? [] : [`${path}:${lineOf(index)}: “${words}”`];
  });
  expect(found).toEqual([]);
});

function wordsIn(text: string): string[] {
  return findWords({ path: "some.ts", text, lineOf: () => 1 }, rules);
}

test("a word of the list is found whatever its case and over the end of a line, and the report has what to write", () => {
  expect(wordsIn("Everything is reported at\n   once.")).toEqual([
    "some.ts:1: “at once”; write: immediately; or: at the same time, together, in one request",
  ]);
  expect(wordsIn("Nobody reads it.")).toHaveLength(1);
  expect(wordsIn("It keeps its place.")).toHaveLength(1);
});

test("parts of other words, names, and idioms of the list are not found", () => {
  expect(wordsIn("replaced, placeholder, always, $place, .places, --place-items, place-items, place=1")).toEqual([]);
  expect(wordsIn("Replies under way go on; the first characters tell keys apart.")).toEqual([]);
  expect(wordsIn("Nothing is in the way of the place.")).toHaveLength(1);
});

test("texts of code are found with their values left out, in templates too, and comments are not among them", () => {
  const template = "`four $" + "{f({ x: `five $" + "{1}` })} six`";
  const code = `const a = "one"; // "two"\n/* "three" */ const b = ${template}; const c = /"/; d("seven");`;
  expect(textsOf(code).map(({ text }) => text)).toEqual(["one", "four ", "five ", "", " six", "seven"]);
});

test("prose is what is neither code nor a link's target", () => {
  const prose = proseOf("A `place` and [a word](at-once.md).\n```sh\nanew\n```\nend");
  expect(prose).not.toMatch(/place|at-once|anew/);
  expect(prose.split("\n")).toHaveLength(5);
  expect(prose).toContain("[a word]");
});
