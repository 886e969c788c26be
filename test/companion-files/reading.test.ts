/** Companions in files: what is read, and what is refused with file and line. */
import { describe, expect, spyOn, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readDocuments } from "../../src/core/companion-files/documents.ts";
import { FileRefusal } from "../../src/core/companion-files/named-files.ts";
import { readCompanionFiles } from "../../src/core/companion-files/read-companions.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";
import { temporaryDirectory } from "../support/temporary.ts";

type Files = Readonly<Record<string, string | Uint8Array>>;

function writeFiles(root: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

/** Faults as `file:line: sentence`, with the files' names from the folder on. */
async function read(files: Files, paths: readonly string[] = ["."]) {
  using directory = temporaryDirectory();
  const root = directory.path;
  writeFiles(root, files);
  const { companions, faults } = await readCompanionFiles(
    paths.map((path) => join(root, path)),
    (_, work) => work(),
  );
  const shorten = (text: string) => text.replaceAll(`${root}/`, "");
  return {
    companions,
    entries: companions.map(({ entry }) => entry),
    faults: faults.map(({ file, line, sentence }) => `${shorten(file)}:${line}: ${shorten(sentence)}`),
  };
}

test("several documents of a file, lists of JSON, and texts of other files are read as one set", async () => {
  const manual = "%PDF-1.7 …";
  const { companions, entries, faults } = await read({
    "a.yaml":
      "# Support\nslug: support\nname: Ada\nsystem_prompt_file: texts/prompt.md\nmetadata: {plan: pro, 'on': yes, n: 0x1F}\n" +
      "sources:\n  - {slug: returns, text_file: texts/returns.md, title: Returns}\n  - slug: manual\n    file: manual.pdf\n" +
      "---\nslug: sales\ngreeting: |\n  Hi,\n  you.\n",
    "b.json": '[{"slug": "c", "name": "C"},\n {"slug": "d", "greeting": null}]',
    "texts/prompt.md": "You help.\r\n",
    "texts/returns.md": "# Returns\n",
    "manual.pdf": manual,
    "sub/ignored.yaml": "slug: [",
    "notes.txt": "slug: [",
  });
  expect(faults).toEqual([]);
  const sources = [
    { slug: "returns", text: "# Returns\n", title: "Returns" },
    { slug: "manual", file_hash: sha256Hex(manual) },
  ];
  expect(entries).toEqual([
    {
      slug: "support",
      name: "Ada",
      metadata: { plan: "pro", on: "yes", n: 31 },
      system_prompt: "You help.\r\n",
      sources,
    },
    { slug: "sales", greeting: "Hi,\nyou.\n" },
    { slug: "c", name: "C" },
    { slug: "d", greeting: null },
  ]);
  const [support] = companions;
  expect(support?.uploads).toMatchObject([{ sourceSlug: "manual", name: "manual.pdf" }]);
  const paths = [
    ["name"],
    ["system_prompt"],
    ["metadata", "plan"],
    ["sources", 0, "text"],
    ["sources", 1, "file_hash"],
    [],
  ];
  expect(paths.map((path) => support?.lineOf(path))).toEqual([3, 4, 5, 7, 9, 2]);
  expect(companions.map(({ lineOf }) => lineOf(["slug"]))).toEqual([2, 11, 1, 2]);
});

const bom = "\u{feff}";
const notUtf8 = Buffer.concat([Buffer.from("slug: a\nname: "), Buffer.from([0xe9]), Buffer.from("\n")]);

describe("is refused with its line", () => {
  test.each<[string, Files, readonly string[]]>([
    [
      "an anchor and an alias",
      { "a.yaml": "slug: &s a\nname: *s\n" },
      [
        "a.yaml:1: Anchors are not read: write the value out where it is needed.",
        "a.yaml:2: Aliases are not read: write the value out.",
      ],
    ],
    [
      "a merge key",
      { "a.yaml": "slug: a\n<<: {name: A}\n" },
      ["a.yaml:2: Merge keys are not read: write the fields out."],
    ],
    [
      "a tag",
      { "a.yaml": "slug: a\nname: !!str 42\n" },
      ["a.yaml:2: Tags such as !!str are not read: write the value as it is meant, texts in quotes."],
    ],
    [
      "an older YAML",
      { "a.yaml": "%YAML 1.1\n---\nslug: a\n" },
      ["a.yaml:1: Directives are not read: files are YAML 1.2."],
    ],
    [
      "an empty value",
      { "a.yaml": "slug: a\ngreeting:\nname: A\n" },
      ["a.yaml:2: Has no value: write null, or leave the field out."],
    ],
    [
      "a repeated key",
      { "a.yaml": "slug: a\nname: A\nname: B\n", "b.json": '{"slug": "b",\n "slug": "b"}' },
      ['a.yaml:3: "name" is written twice.', 'b.json:2: "slug" is written twice.'],
    ],
    [
      "a name that is a number",
      { "a.yaml": "slug: a\nmetadata:\n  2026: x\n" },
      ["a.yaml:3: A name must be text: put it in quotes."],
    ],
    [
      "numbers that JSON does not hold",
      { "a.yaml": "slug: a\nmetadata: {a: 12345678901234567890,\n  b: .inf}\n" },
      ["a.yaml:2: Is too large to be exact: write it as text.", "a.yaml:3: Is not a number that JSON knows."],
    ],
    [
      "what is no YAML, and no JSON",
      { "a.yaml": "slug: a\nname: [\n", "b.json": '{"slug": "b",\n}', "c.json": "{'a': 1}" },
      [
        "a.yaml:3: Is not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ].",
        "b.json:2: Is not valid JSON from here on.",
        "c.json:1: Is not valid JSON from here on.",
      ],
    ],
    [
      "every document at fault, beside one that is not",
      { "a.yaml": "slug: a\n---\nname: B\n---\n- c\n" },
      [
        "a.yaml:3: slug is missing: it is what joins the file and the server.",
        "a.yaml:5: Must be a companion: fields with their values. Separate several by a line ---.",
      ],
    ],
    [
      "an empty file",
      { "a.yaml": "# later\n", "b.json": " " },
      ["a.yaml:1: Has nothing in it.", "b.json:1: Has nothing in it."],
    ],
    ["a byte order mark", { "a.yaml": `${bom}slug: a\n` }, ["a.yaml:1: Begins with a byte order mark."]],
    ["what is not UTF-8", { "a.yaml": notUtf8 }, ["a.yaml:2: Is not UTF-8."]],
    [
      "what is too deep",
      { "a.json": "[".repeat(100_000), "b.yaml": `slug: b\na: ${"[".repeat(60)}${"]".repeat(60)}` },
      ["a.json:1: Is nested too deeply.", "b.yaml:2: Is nested too deeply."],
    ],
    [
      "a field beside its file",
      { "a.yaml": "slug: a\ngreeting: Hi\ngreeting_file: g.txt\n", "g.txt": "Hi" },
      ["a.yaml:3: greeting_file and greeting stand beside one another: write one of them."],
    ],
    [
      "texts that cannot be read",
      {
        "a.yaml": "slug: a\nsystem_prompt_file: p.md\ngreeting_file: 7\nno_answer_text_file: none.md\n",
        "b.yaml": "slug: b\ngreeting_file: ../up.md\n---\nslug: c\ngreeting_file: /etc/hostname\n",
        "p.md": `${bom}You`,
      },
      [
        'a.yaml:2: "p.md", line 1: Begins with a byte order mark.',
        "a.yaml:3: greeting_file must be the name of a file.",
        "a.yaml:4: no_answer_text_file: none.md does not exist.",
        "b.yaml:2: greeting_file: ",
        "b.yaml:5: greeting_file: must be relative to the file that names it.",
      ],
    ],
    [
      "two files with one slug",
      { "a.yaml": "slug: a\n", "b.yaml": "name: B\nslug: a\n" },
      ['b.yaml:2: The slug "a" is that of a.yaml, line 1, too.'],
    ],
    [
      "a source that is two things, or none, or inline",
      {
        "a.yaml":
          "slug: a\nsources:\n- {slug: x, url: 'https://a.example', text_file: a.yaml}\n- slug: y\n- {slug: z, text: T, file: a.yaml}\n",
      },
      [
        "a.yaml:3: A source has one of text_file, file, url, sitemap, content_hash.",
        "a.yaml:4: A source has one of text_file, file, url, sitemap, content_hash.",
        "a.yaml:5: Write the text into a file, and name that as text_file.",
      ],
    ],
    [
      "more than a set may have",
      { "a.json": JSON.stringify(Array.from({ length: 251 }, (_, at) => ({ slug: `s${at}` }))) },
      ["a.json:1: A set has at most 250 companions: this is one more."],
    ],
  ])("%s", async (_, files, expected) => {
    const { faults } = await read(files);
    expect(faults).toHaveLength(expected.length);
    expect(faults.map((fault, at) => fault.slice(0, expected[at]?.length))).toEqual([...expected]);
  });
});

test("links and names lead nowhere out of the directory that is given", async () => {
  using directory = temporaryDirectory();
  const root = directory.path;
  writeFiles(root, {
    "set/a.yaml":
      "slug: a\nsystem_prompt_file: inside.md\ngreeting_file: outside.md\nno_answer_text_file: up/secret.md\n",
    "set/real.md": "inside",
    "secret.md": "secret",
  });
  symlinkSync("real.md", join(root, "set/inside.md"));
  symlinkSync("../secret.md", join(root, "set/outside.md"));
  symlinkSync("..", join(root, "set/up"));
  const asCaller = <Result>(_: string, work: () => Result) => work();
  const { companions, faults } = await readCompanionFiles([join(root, "set")], asCaller);
  expect(companions.map(({ entry }) => entry)).toEqual([
    { slug: "a", system_prompt: "inside", greeting: null, no_answer_text: null },
  ]);
  expect(faults.map(({ line, sentence }) => [line, sentence.includes("leads out of the directory")])).toEqual([
    [3, true],
    [4, true],
  ]);
  symlinkSync("../secret.md", join(root, "set/other.yaml"));
  const again = await readCompanionFiles([join(root, "set")], asCaller);
  expect(again.faults.map(({ file, line }) => [file, line]).at(0)).toEqual([join(root, "set/other.yaml"), 1]);
  await expect(readCompanionFiles([join(root, "none")], asCaller)).rejects.toThrow(FileRefusal);
});

test("a file counts once, whatever its name, and 8 MiB are a set", async () => {
  const big = `slug: a\ngreeting: "${"x".repeat(1024 * 1024)}"\n`;
  expect((await read({ "a.conf": "slug: a\n" }, ["a.conf", "./a.conf"])).entries).toEqual([{ slug: "a" }]);
  expect((await read({ "a.yaml": big })).faults).toEqual(["a.yaml:1: a.yaml is larger than 1 MiB."]);
  const files = Array.from({ length: 9 }, (_, at) => [`${at}.yaml`, `slug: s${at}\n# ${"x".repeat(1000 * 1024)}`]);
  expect((await read(Object.fromEntries(files))).faults).toEqual(["8.yaml:1: 8.yaml makes more than 8 MiB of a set."]);
});

test("a file of directives alone is gone through once, not again for each", async () => {
  const text = `# A set.\n${"%YAML 1.1\n--- a\n...\n".repeat(50)}`;
  using split = spyOn(String.prototype, "split");
  const { faults } = await readDocuments("a.yaml", new TextEncoder().encode(text));
  const whole = split.mock.contexts.filter((one) => String(one) === text);
  expect([whole.length, faults.map(({ line }) => line)]).toEqual([1, [2]]);
});
