/** Suites are read strictly: what is wrong with a file is named with its line, all of it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSuites } from "../../src/core/evals/read-suites.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "companiond-suites-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function read(text: string, name = "suite.yaml") {
  const file = join(folder, name);
  writeFileSync(file, text);
  const { suites, faults } = await readSuites([file], (_, work) => work());
  expect(faults.every((fault) => fault.file === file)).toBe(true);
  return { suites, faults: faults.map(({ line, sentence }) => `${line}: ${sentence}`) };
}

const whole = `
suite: Shop
companion: ada
cases:
  - name: opening hours
    repeat: 3
    visitor: {sub: v1, name: Mia, attributes: {plan: pro}}
    history:
      - {role: user, text: Hello}
      - {role: assistant, text: Hi!}
    turns:
      - user: When are you open?
        reference: We are open from nine to six.
        tools:
          find_hours: {result: {from: 9}}
        expect:
          - contains: nine
          - not_contains: closed
          - equals: |
              From nine.
          - regex: "(?i)from (nine|9)"
          - max_chars: 200
          - cites: Opening hours
          - cites_nothing: true
          - no_answer: true
          - calls: {tool: find_hours, arguments: {day: sat}}
          - not_calls: cancel
          - language: nb-NO
          - max_first_text_ms: 1000
          - max_total_ms: 5000
          - max_cost_micros: 0
          - judge: The reply is kind.
            judge_model: gpt-x
            votes: 3
`;

test("a suite is read with every check that there is, from YAML and from JSON alike", async () => {
  const { suites, faults } = await read(whole);
  expect(faults).toEqual([]);
  const [one] = suites[0]?.cases ?? [];
  expect(suites[0]).toMatchObject({ name: "Shop", companion: "ada", companionLine: 3 });
  expect(one).toMatchObject({
    repeat: 3,
    visitor: { sub: "v1", name: "Mia", email: null, attributes: { plan: "pro" } },
    history: [{ role: "user", text: "Hello" }, { role: "assistant" }],
  });
  expect(one?.turns[0]?.expect).toEqual([
    { type: "contains", text: "nine" },
    { type: "not_contains", text: "closed" },
    { type: "equals", text: "From nine.\n" },
    { type: "regex", text: "(?i)from (nine|9)" },
    { type: "max_chars", limit: 200 },
    { type: "cites", text: "Opening hours" },
    { type: "cites_nothing" },
    { type: "no_answer" },
    { type: "calls", tool: "find_hours", arguments: { day: "sat" } },
    { type: "not_calls", text: "cancel" },
    { type: "language", language: "no" },
    { type: "max_first_text_ms", limit: 1000 },
    { type: "max_total_ms", limit: 5000 },
    { type: "max_cost_micros", limit: 0 },
    { type: "judge", sentence: "The reply is kind.", model: "gpt-x", votes: 3 },
  ]);
  const json = await read(JSON.stringify(Bun.YAML.parse(whole)), "suite.json");
  expect(json.suites[0]?.cases).toEqual(suites[0]?.cases);
});

/** A suite whose one turn expects this, which begins in line 7. */
const expecting = (check: string) =>
  `suite: A\ncompanion: ada\ncases:\n  - name: one\n    turns:\n      - user: Hi\n        expect: [${check}]\n`;

describe.each([
  ["- 1", ["1: Must be an object."]],
  ["suite: A\ncompanion: ada\n", ["1: Cases must be given."]],
  ["suite: A\ncompanion: Ada!\ncases: []\n", [/^2: companion: must be the slug/, /^3: cases: must be a list of 1 to/]],
  [
    "suite: 7\ncompanion: ada\ncase: 1\ncases: 2\n",
    [/Put it in quotes/, /^3: case: unknown field. Did you mean cases/, /^4/],
  ],
  ["suite: A\ncompanion: ada\ncases:\n  - name: a\n    turns: []\n", [/^5: cases\[0\]\.turns: must be a list of 1/]],
  [`${expecting("")}  - name: one\n    turns: [{user: Hi}]\n`, [/^8: cases\[1\]: another case .* "one"/]],
  [expecting("").replace("Hi", "x".repeat(2001)), [/^6: .*user: must be text of 1 to 2000/]],
  [expecting("").replace("name: one", "name: one\n    visitor: {sub: ..}"), [/^5: .*visitor\.sub: no visitor/]],
  [
    expecting("").replace("name: one", "name: one\n    repeat: 0\n    history: [{role: bot, text: a}]"),
    [/^5: .*repeat/, /^6: .*role: must be user or assistant/],
  ],
  [expecting("{contains: a, equals: b}"), [/^7: .*expect\[0\]: must be one check/]],
  [expecting("{contains: a, votes: 3}"), [/must be one check/]],
  [expecting("{votes: 3}"), [/must be one check/]],
  [expecting("{contain: a}"), [/contain: unknown field. Did you mean contains/]],
  [expecting("contains"), [/expect\[0\]: must be an object/]],
  [expecting("{regex: '(?=a)'}"), [/^7: .*regex: looks ahead or behind/]],
  [expecting("{regex: '(a)\\1'}"), [/regex: refers back to a group/]],
  [expecting("{regex: '('}"), [/regex: is no regular expression/]],
  [
    expecting("{no_answer: false}, {max_chars: -1}, {max_chars: 1.5}"),
    [/no_answer: must be true/, /whole number/, /whole number/],
  ],
  [expecting("{calls: find}, {calls: {arguments: {}}}"), [/calls: must be an object/, /calls: tool must be given/]],
  [
    expecting("{language: tlh}, {language: german language}"),
    [/tlh is not among the languages/, /must be a language tag/],
  ],
  [expecting("{judge: ok, votes: 2}"), [/votes: must be 1, 3, or 5/]],
  ["suite: A\ncompanion: ada\ncases: []\n---\nsuite: B\n", [/^5: A file has one suite/]],
  ["suite: &a A\ncompanion: *a\n", [/anchor/i, /alias/i]],
])("%j", (text, expected) => {
  test("is a fault with its line", async () => {
    const { suites, faults } = await read(text);
    expect(suites).toEqual([]);
    expect(faults).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(faults[index]).toMatch(pattern);
  });
});
