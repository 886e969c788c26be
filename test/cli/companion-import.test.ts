import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import type { Command } from "../../src/cli/command.ts";
import { importAction, importedId } from "../../src/cli/companion-import.ts";
import { isUuid } from "../../src/lib/ids.ts";
import { type CliOptions, runCommand, runJson } from "../support/cli.ts";
import { temporaryDirectory } from "../support/temporary.ts";

async function openAccount(dataDir: string): Promise<CliOptions> {
  const options = { environment: { COMPANIOND_DATA_DIR: dataDir } };
  await runJson(["account", "create", "--email", "a@example.com"], options);
  return options;
}

const companionLines = (count: number) =>
  Array.from({ length: count }, (_, index) => JSON.stringify({ name: `c${index}`, metadata: { index } })).join("\n");

interface ListedCompanion {
  id: string;
  name: string;
  embed_token: string;
  metadata: { index?: number };
}

async function listAll(options: CliOptions): Promise<ListedCompanion[]> {
  return (await runJson(["companion", "list", "--account", "a@example.com"], options)) as ListedCompanion[];
}

const words = (file: string, ...more: string[]) => ["companion", "import", "--account", "a@example.com", file, ...more];

test("creates a companion from every line, in the order of the lines", async () => {
  using dir = temporaryDirectory();
  const options = await openAccount(dir.file("data"));
  const file = dir.file("companions.jsonl");
  writeFileSync(file, `\ufeff${companionLines(600)}\r\n\n{"name":"last","allowed_origins":["https://Shop.example/"]}`);
  const outcome = await runJson(words(file), options);
  expect(outcome).toEqual({ account: "a@example.com", imported: 601, resumed_at: 0, total: 601 });
  const all = await listAll(options);
  expect(all).toHaveLength(601);
  expect(all.map((one) => one.name)).toEqual(["last", ...Array.from({ length: 600 }, (_, index) => `c${599 - index}`)]);
  expect(all[0]).toMatchObject({ allowed_origins: ["https://shop.example"], created_by_key_id: null });
  expect(new Set(all.map((one) => one.embed_token)).size).toBe(601);
});

test("reports every fault of every line, and imports nothing then", async () => {
  using dir = temporaryDirectory();
  const options = await openAccount(dir.file("data"));
  const file = dir.file("companions.jsonl");
  const lines = [
    '{"name":"good"}',
    '{"name":"","theme_color":"red","typo":1}',
    "not json",
    "",
    "[1]",
    `{"name":"${"x".repeat(1024 * 1024)}"}`,
    '{"name":"also good"}',
  ];
  writeFileSync(
    file,
    Buffer.concat([Buffer.from(`${lines.join("\n")}\n{"name":"`), Buffer.from([0xff]), Buffer.from('"}')]),
  );
  const outcome = await runCommand(words(file, "--json"), options);
  expect(outcome.exitCode).toBe(1);
  expect(outcome.stdout).toBe("");
  const reported = outcome.stderr.split("\n");
  expect(reported.map((line) => line.split(":").slice(0, 2).join(":")).slice(0, 7)).toEqual([
    "line 2: typo",
    "line 2: name",
    "line 2: theme_color",
    "line 3: The line is not valid JSON.",
    "line 5: The line must be a JSON object.",
    "line 6: The line is longer than 1024 KiB.",
    "line 8: The line is not valid UTF-8.",
  ]);
  expect(outcome.stderr).toContain("the file has 7 faults; nothing was imported");
  expect(await listAll(options)).toEqual([]);
});

/** Runs the command with a store that breaks at the given batch, before or after its commit. */
function breakingImport(brokenBatch: number, isKept: boolean): Command {
  const run: typeof importAction.run = async (input) => {
    let batches = 0;
    return await importAction.run({
      ...input,
      async openStore() {
        const store = await input.openStore();
        const { createMany } = store.companions;
        Object.assign(store.companions, {
          createMany: async (...call: Parameters<typeof createMany>) => {
            const isBroken = ++batches === brokenBatch;
            if (!isBroken || isKept) await createMany.apply(store.companions, call);
            if (isBroken) throw new Error("pulled the plug");
          },
        });
        return store;
      },
    });
  };
  return { name: "breaking", about: "", actions: [{ ...importAction, run }] };
}

test.each([false, true])("resumes after an interruption and creates nothing twice (batch kept: %p)", async (isKept) => {
  using dir = temporaryDirectory();
  const options = await openAccount(dir.file("data"));
  const file = dir.file("companions.jsonl");
  writeFileSync(file, companionLines(900));
  const commands = [breakingImport(2, isKept)];
  const cut = await runCommand(["breaking", ...words(file).slice(1)], { ...options, commands });
  expect(cut.exitCode).toBe(1);
  expect(await listAll(options)).toHaveLength(isKept ? 500 : 250);
  const outcome = await runJson(words(file), options);
  expect(outcome).toMatchObject({ imported: 650, resumed_at: 250, total: 900 });
  const indices = (await listAll(options)).map((one) => one.metadata.index);
  expect(indices).toEqual(Array.from({ length: 900 }, (_, index) => 899 - index));
});

test("a file is not imported twice without --again", async () => {
  using dir = temporaryDirectory();
  const options = await openAccount(dir.file("data"));
  const file = dir.file("companions.jsonl");
  writeFileSync(file, companionLines(3));
  await runJson(words(file), options);
  const refused = await runCommand(words(file), options);
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("--again");
  expect(await listAll(options)).toHaveLength(3);
  await runJson(words(file, "--again"), options);
  expect(await listAll(options)).toHaveLength(6);
});

test("says what is missing", async () => {
  using dir = temporaryDirectory();
  const options = await openAccount(dir.file("data"));
  expect((await runCommand(words(dir.file("none.jsonl")), options)).stderr).toContain("file not found");
  expect((await runCommand(["companion", "import", "--account", "a@example.com"], options)).exitCode).toBe(2);
  writeFileSync(dir.file("empty.jsonl"), "");
  expect(await runJson(words(dir.file("empty.jsonl")), options)).toMatchObject({ imported: 0, total: 0 });
});

test("ids of an import are UUIDs of version 7 in the order of the lines", () => {
  const journal = { seed: "seed", startedAt: Date.UTC(2026, 0, 1) };
  const ids = [0, 1, 4095, 4096, 999_999].map((index) => importedId(journal, index));
  expect(ids.toSorted()).toEqual(ids);
  for (const id of ids) {
    expect(isUuid(id)).toBe(true);
    expect(id).toMatch(/^.{14}7.{4}[89ab]/);
  }
  expect(importedId({ ...journal, seed: "other" }, 0)).not.toBe(ids[0]);
});
