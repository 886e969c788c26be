/** `companiond copy` as operators use it. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { runCommand, runJson } from "../support/cli.ts";
import { type CopyPlaces, makeCopyPlaces, makeOddStore, readStore } from "../support/copy-world.ts";
import { queryRows } from "../support/postgres-databases.ts";

const secretKey = Buffer.alloc(32, 7).toString("base64");
let places: CopyPlaces;
let directory: CopyPlaces["directory"];
let source: CopyPlaces["source"];
let url: CopyPlaces["url"];
beforeEach(async () => {
  places = await makeCopyPlaces();
  ({ directory, source, url } = places);
});
afterEach(() => places.remove());

const copy = (from: string, to: string, environment: Record<string, string> = {}) =>
  runCommand(["copy", "--from", from, "--to", to], { environment });

test("there and back, by names of the configuration, with what to do next", async () => {
  await makeOddStore(source);
  writeFileSync(`${source}/secret.key`, `${secretKey}\n`);
  const environment = { DATABASE_URL: url, COMPANIOND_SECRET_KEY: secretKey, COMPANIOND_DATA_DIR: source };
  const there = await copy("sqlite", "postgres", environment);
  expect(there).toMatchObject({ exitCode: 0 });
  expect(there.stdout).toMatch(/^TABLE +ROWS +CHECKSUM\naccounts +\d+ +[0-9a-f]{16}\n/);
  expect(there.stdout).toMatch(/Copied \d+ rows from sqlite:\S+ to postgres:\/\/\S+ in [\d.]+ s; both hold the same\./);
  expect(there.stdout).toContain(`set DATABASE_URL, and COMPANIOND_SECRET_KEY to the content of ${source}/secret.key`);
  expect(there.stderr).toMatch(/^copied \d+ rows of accounts\n[\s\S]*checked \d+ rows of \w+\n$/);

  const back = directory.file("back");
  const result = await runJson(["copy", "--from", url, "--to", `sqlite:${back}`]);
  const shownUrl = url.replace("postgres@", "");
  expect(result).toMatchObject({ from: shownUrl, to: `sqlite:${back}`, resumed_at: 0, seconds: expect.any(Number) });
  expect((result as { tables: object[] }).tables[0]).toEqual({
    table: "accounts",
    rows: readStore(source)["accounts"]?.length,
    checksum: expect.stringMatching(/^[0-9a-f]{16}$/),
    replaced: 0,
  });
  expect(readStore(back)).toEqual(readStore(source));
});

test("wrong use is told in a sentence without the password, and exits with 2", async () => {
  const cases: [from: string, to: string, sentence: string][] = [
    [
      "sqlite:",
      "postgres",
      "--from must be sqlite:<directory>, sqlite, postgres://USER:PASSWORD@HOST/DATABASE or postgres.",
    ],
    ["mysql://u:Hidden-1@h/d", "postgres", "--from must be sqlite:<directory>"],
    ["sqlite:a", "Hidden-1", "--to must be sqlite:<directory>"],
    ["sqlite:a", "postgres://u:Hidden-1@h", "--to must name the database after the host"],
    ["sqlite:a", "postgres://u:Hidden-1@h/d?sslmode=prefer", "--to must have an sslmode of"],
    ["sqlite:a", "sqlite:b", "copy moves data to the other engine"],
    ["postgres://u:Hidden-1@h/d", "postgresql://u:Hidden-1@h/d", "copy moves data to the other engine"],
    ["sqlite:a", "postgres", "--to postgres needs DATABASE_URL, in the environment or in --env-file."],
  ];
  for (const [from, to, sentence] of cases) {
    const { exitCode, stdout, stderr } = await copy(from, to);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(`companiond: ${sentence}`);
    expect(stderr).not.toContain("Hidden-1");
  }
  const missing = await runCommand(["copy", "--from", "sqlite:a"]);
  expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("missing --to <target>.") });
});

test("what cannot be copied exits with 1, and other commands refuse an unfinished target by name", async () => {
  const empty = directory.file("empty");
  expect(await copy(`sqlite:${empty}`, url)).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: `companiond: There is no database in ${empty}.\n`,
  });
  await makeOddStore(source, { rows: 5 });
  expect((await copy(`sqlite:${source}`, url)).exitCode).toBe(0);
  expect(await copy(`sqlite:${source}`, url)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("already holds data of companiond."),
  });
  await queryRows(url, "UPDATE companiond SET copy_from = 'sqlite:/somewhere'");
  const environment = { DATABASE_URL: url, COMPANIOND_SECRET_KEY: secretKey };
  const listed = await runCommand(["account", "list"], { environment });
  expect(listed).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('"companiond copy"') });
});
