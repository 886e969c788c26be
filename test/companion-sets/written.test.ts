/** Files that an export writes: they read back as they were, and replace no one else's. */

import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { toFiles } from "../../src/cli/companion-sets/export-files.ts";
import { describePlan } from "../../src/cli/companion-sets/plan-text.ts";
import { writeFolder } from "../../src/cli/companion-sets/written-folder.ts";
import { readCompanionFiles } from "../../src/core/companion-files/read-companions.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { hostileTexts } from "../support/hostile-texts.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const odd = [
  ...[
    "",
    " ",
    "no",
    "null",
    "~",
    "1",
    "0x1f",
    "1e3",
    ".inf",
    "<<",
    "- a",
    "# a",
    "a: b",
    "a #b",
    "%YAML 1.1",
    "---",
    "...",
    "!!str a",
  ],
  ...[
    "&a",
    "*a",
    "? a",
    "| a",
    "> a",
    "'",
    '"',
    "\\",
    "a\r\nb\rc",
    "\ta",
    "a\t",
    " a\n",
    "a\n\n\n",
    "\n\na",
    "\u0085\u2028\u2029",
    "\u{feff}a",
  ],
  ...[
    "\u0001\u001b[2J\u007f",
    "a\n  b\n c",
    "a \nb",
    "{{visitor}}",
    "日本語: は",
    "🚲".repeat(200),
    `${"x".repeat(300)}: y`,
  ],
];

test("every text survives, as a field, in a file of its own and in metadata", async () => {
  using directory = temporaryDirectory();
  const texts = [...odd, ...hostileTexts];
  const expected = texts.map((text, at): JsonObject => {
    const long = `${text}\n${"line\n".repeat(6)}`;
    const metadata = { [text]: [text, { "<<": text, deep: { [text]: null } }] };
    return { slug: `t${at}`, name: "T", ...(text === "" ? {} : { greeting: text }), system_prompt: long, metadata };
  });
  const files = new Map<string, string>();
  for (const companion of expected) {
    for (const [name, text] of await toFiles({ companion, tools: [], sources: [] })) files.set(name, text);
  }
  writeFolder(directory.path, files, () => true);
  const paths = [...files.keys()].filter((name) => name.endsWith(".yaml")).map((name) => directory.file(name));
  const entries: JsonObject[] = [];
  for (let at = 0; at < paths.length; at += 200) {
    const { companions, faults } = await readCompanionFiles(paths.slice(at, at + 200), (_, work) => work());
    expect(faults).toEqual([]);
    entries.push(...companions.map(({ entry }) => entry));
  }
  expect(entries).toEqual(expected.map((one) => one));
});

test("what is as it is by default is left out, secrets are, and content that only the server has", async () => {
  const tools = [
    {
      name: "x",
      title: "x",
      description: "",
      parameters: { type: "object", properties: {} },
      url: "https://a.example",
      mcp_url: null,
      tools: null,
      header_names: ["A"],
      timeout_ms: 10_000,
      confirm: false,
      requires_visitor: true,
    },
  ];
  const sources = [
    { slug: "faq", type: "url", title: "FAQ", url: "https://a.example/faq", refresh_hours: 24 },
    { slug: "b", type: "text", title: "B", url: null, refresh_hours: null, content_hash: "c".repeat(64) },
    { slug: null, type: "text", title: "Own" },
  ];
  const companion = {
    id: "1",
    slug: "a",
    name: "A",
    greeting: null,
    context_tokens: 8000,
    enabled: false,
    citations: "footer",
  };
  const files = await toFiles({ companion, tools, sources });
  expect([...files]).toEqual([
    [
      "a.yaml",
      "slug: a\nname: A\nenabled: false\ntools:\n  - name: x\n    url: https://a.example\n    requires_visitor: true\n" +
        `sources:\n  - slug: b\n    title: B\n    content_hash: ${"c".repeat(64)}\n  - slug: faq\n    url: https://a.example/faq\n    refresh_hours: 24\n`,
    ],
  ]);
});

test("a folder's other files are left as they are, and so are links", () => {
  using directory = temporaryDirectory();
  const folder = directory.file("out");
  const write = (files: Record<string, string>, concerns = (_: string) => true) => {
    return writeFolder(folder, new Map(Object.entries(files)), concerns);
  };
  expect(write({ "a.yaml": "a", "b.yaml": "b" })).toEqual({ written: ["a.yaml", "b.yaml"], deleted: [] });
  writeFileSync(`${folder}/mine.yaml`, "mine");
  expect(write({ "a.yaml": "a2" }, (name) => name.startsWith("a"))).toEqual({ written: ["a.yaml"], deleted: [] });
  expect(write({ "a.yaml": "a2" })).toEqual({ written: [], deleted: ["b.yaml"] });
  expect(readdirSync(folder).sort()).toEqual([".companiond-export", "a.yaml", "mine.yaml"]);
  expect(() => write({ "a.yaml": "a3", "mine.yaml": "theirs" })).toThrow("mine.yaml was not written by this command");
  writeFileSync(directory.file("target"), "target");
  symlinkSync("../target", `${folder}/c.yaml`);
  writeFileSync(`${folder}/.companiond-export`, "a.yaml\nc.yaml\nd.yaml\n../target\n");
  mkdirSync(`${folder}/d.yaml`);
  for (const name of ["c.yaml", "d.yaml"])
    expect(() => write({ [name]: "x" })).toThrow("was not written by this command");
  expect([readFileSync(`${folder}/a.yaml`, "utf8"), readFileSync(directory.file("target"), "utf8")]).toEqual([
    "a2",
    "target",
  ]);
});

test("texts that have little in common replace one another: the fewest changes would take minutes to find", async () => {
  const lines = (letter: string) => Array.from({ length: 3_000 }, (_, at) => (at % 3 === 0 ? "-" : `${letter}${at}`));
  const [from, to] = [`${lines("a").join("\n")}\n`, lines("b").join("\n")];
  const item = { slug: "a", id: "1", changes: [{ field: "system_prompt", from, to }], drift: [] };
  const shown = await describePlan({ plan: [{ ...item, action: "update" }], applied: true });
  const marks = shown
    .split("\n")
    .slice(2, -2)
    .map((line) => line.trim()[0]);
  expect([marks.length, marks.lastIndexOf("-") < marks.indexOf("+")]).toEqual([6_000, true]);
});
