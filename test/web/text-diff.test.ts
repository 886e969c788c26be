/** What the dashboard shows of a change: long texts line by line with their words marked, everything else as words. */
import { expect, test } from "bun:test";
import { type DiffLine, diffLines } from "../../src/web/dashboard/versions/text-diff.ts";
import { describeOrigin, isLong, nameFields, toText } from "../../src/web/dashboard/versions/words.ts";

const signs = { same: " ", removed: "-", added: "+" };
const draw = (lines: readonly DiffLine[]) =>
  lines.map(({ kind, parts }) => {
    return `${signs[kind]}${parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join("")}`;
  });

test.each([
  ["a\nb\nc", "a\nb\nc", [" a", " b", " c"]],
  ["a\nb\nc", "a\nc\nd", [" a", "-b", " c", "+d"]],
  ["Be brief, and kind.", "Be brief and very kind.", ["-Be brief[,] and kind.", "+Be brief and[ very] kind."]],
  ["Sell bicycles.", "Never talk about the weather!", ["-Sell bicycles.", "+Never talk about the weather!"]],
  ["", "One\nTwo", ["-", "+One", "+Two"]],
  [
    "x\nsame\nKeep the tone.",
    "x\nsame\nKeep this tone.\nEnd",
    [" x", " same", "-Keep [the] tone.", "+Keep [this] tone.", "+End"],
  ],
])("between %p and %p", (before, after, expected) => {
  expect(draw(diffLines(before, after))).toEqual(expected);
});

test("either side of a difference is whole again from its lines, also where texts are too long to compare", () => {
  const words = ["one", "two", "three", "", "four five", "six"];
  let seed = 7;
  const random = () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const make = (lines: number) => Array.from({ length: lines }, () => words[Math.floor(random() * 6)]).join("\n");
  const texts = [...Array.from({ length: 40 }, (_, at) => [make(at), make(at + 1)]), [make(3000), make(3001)]];
  for (const [before = "", after = ""] of texts) {
    const lines = diffLines(before, after);
    const side = (kind: string) =>
      lines.flatMap((line) =>
        line.kind === kind || line.kind === "same" ? [line.parts.map(({ text }) => text).join("")] : [],
      );
    expect([side("removed").join("\n"), side("added").join("\n")]).toEqual([before, after]);
  }
});

test("values, fields and origins are words, whatever they are", () => {
  expect([null, true, 0.5, ["a", "b"], [], {}].map(toText)).toEqual(["", "yes", "0.5", "a\nb", "", ""]);
  expect(
    toText([
      { id: "1", title: "Hours", content_hash: "0123456789" },
      { id: "2", title: null, content_hash: null },
    ]),
  ).toBe("Hours (content 01234567)\nUntitled (not read yet)");
  const parameters = { type: "object", properties: { id: { type: "string" } }, required: ["id"], extra: {} };
  expect(toText([{ name: "find", parameters, confirm: false }])).toBe(
    "name: find\nparameters:\n  type: object\n  properties:\n    id:\n      type: string\n  required:\n    – id\n  extra:\n" +
      "confirm: no",
  );
  expect([isLong({ from: "a", to: null }), isLong({ from: null, to: "a\nb" })]).toEqual([false, true]);
  expect(nameFields(["system_prompt", "model", "tools"])).toBe("system prompt, model, and tools");
  const by = (actor: object | null, via: string | null) => describeOrigin({ actor, via } as never);
  expect(by({ type: "session", id: "1", name: "a@b.example" }, "dashboard")).toBe("a@b.example, in the dashboard");
  expect([by({ type: "cli", id: null, name: null }, "apply"), by(null, null)]).toEqual([
    "The operator, from files",
    "",
  ]);
});
