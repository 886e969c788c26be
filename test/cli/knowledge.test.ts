/** `companiond knowledge` on a real database. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type CliOptions, runCommand, runJson } from "../support/cli.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const dir = temporaryDirectory();
const options: CliOptions = { environment: { COMPANIOND_DATA_DIR: dir.path } };
const email = "ada@shop.example";
let companion: string;
afterAll(() => dir[Symbol.dispose]());

interface Shown {
  id: string;
  title: string;
}

beforeAll(async () => {
  await runJson(["account", "create", "--email", email], options);
  companion = ((await runJson(["companion", "create", "--account", email, "--name", "Ada"], options)) as Shown).id;
  await Bun.write(dir.file("hours.md"), "# Hours\n\nOpen from nine to five.");
  await Bun.write(dir.file("photo.png"), new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 0]));
});

const knowledge = (...words: string[]) => runCommand(["knowledge", ...words, "--companion", companion], options);

test("adds files and URLs, lists them and deletes them", async () => {
  const file = dir.file("hours.md");
  const added = await knowledge("add", "--queue", file, "https://shop.example/returns");
  expect(added).toMatchObject({ exitCode: 0, stderr: "" });
  expect(added.stdout).toMatch(
    /^[0-9a-f-]{36} +queued +hours\.md\s+[0-9a-f-]{36} +queued +https:\/\/shop\.example\/returns/,
  );
  const words = ["knowledge", "add", "--companion", companion, "--queue", "--title", "Opening hours", file];
  expect(await runJson(words, options)).toMatchObject([{ type: "file", title: "Opening hours", status: "queued" }]);
  const map = ["--queue", "--sitemap", "--refresh-hours", "24", "https://shop.example/sitemap.xml"];
  expect((await knowledge("add", ...map)).exitCode).toBe(0);

  const list = ["knowledge", "list", "--companion", companion];
  const listed = (await runJson(list, options)) as Shown[];
  expect(listed).toMatchObject([
    { type: "sitemap", refresh_hours: 24 },
    { title: "Opening hours" },
    { type: "url", title: "https://shop.example/returns", refresh_hours: null },
    { title: "hours.md" },
  ]);
  expect((await knowledge("list")).stdout).toContain("Opening hours");
  const id = listed[1]?.id ?? "";
  expect(await knowledge("delete", id)).toMatchObject({ exitCode: 0, stdout: `Deleted the source ${id}.\n` });
  expect((await runJson(list, options)) as Shown[]).toHaveLength(3);
  expect((await knowledge("delete", id)).stderr).toContain("source not found");
});

test("reads what it adds, and fails if something cannot be read", async () => {
  await Bun.write(dir.file("broken.pdf"), "%PDF-1.7 and nothing else");
  const read = await knowledge("add", dir.file("hours.md"), dir.file("broken.pdf"));
  expect(read.exitCode).toBe(1);
  expect(read.stdout).toMatch(/ready +hours\.md/);
  expect(read.stdout).toMatch(/failed +broken\.pdf +This document is broken/);
});

test.each([
  [["add"], 2, "missing <file>|<url>…"],
  [["add", "--title", "x", "https://shop.example/"], 2, "--title is for one file"],
  [["add", "--sitemap", dir.file("hours.md")], 2, "--sitemap is for URLs only"],
  [["add", dir.file("none.md")], 1, "file not found"],
  [["add", dir.path], 1, "not a regular file"],
  [["add", dir.file("hours.md/x")], 1, "cannot be read (ENOTDIR)"],
  [["add", dir.file("hours.md"), dir.file("photo.png")], 1, "photo.png: Send a PDF"],
  [["add", "--refresh-hours", "1.5", "https://shop.example/"], 1, "refresh_hours: Must be a whole number"],
  [["add", "https://user:word@shop.example/"], 1, "url: Must be an http or https URL"],
])("%p is refused, and nothing is added", async (words, exitCode, sentence) => {
  const before = (await knowledge("list")).stdout;
  const refused = await knowledge(...words);
  expect(refused.exitCode).toBe(exitCode);
  expect(refused.stderr).toContain(sentence);
  expect((await knowledge("list")).stdout).toBe(before);
});

test("says which companion there is none of", async () => {
  const outcome = await runCommand(["knowledge", "list", "--companion", "x"], options);
  expect(outcome).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("companion not found: x") });
});
