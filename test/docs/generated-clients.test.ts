/** Clients that others generate from the API document: they compile under every strict setting and run, without a cast. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { apiTools, apiToolsFolder, installApiTools, runTool } from "../support/api-tools.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

const examples = join(import.meta.dir, "../../examples/generated");

let server: TestServer;
let directory: TemporaryDirectory;
let generated: string;
let key: string;

beforeAll(async () => {
  installApiTools();
  server = await startTestServer();
  ({ key } = await server.createKey(await server.createAccount()));
  directory = temporaryDirectory();
  writeFileSync(directory.file("openapi.json"), await (await fetch(`${server.url}/openapi.json`)).text());
  const { exitCode, stderr } = await runTool(apiTools.generate, [directory.file("openapi.json"), directory.path]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  generated = readFileSync(directory.file("schema.d.ts"), "utf8");
  cpSync(examples, directory.path, { recursive: true });
  cpSync(join(apiToolsFolder, "every-kind.ts"), directory.file("every-kind.ts"));
  symlinkSync(join(apiToolsFolder, "node_modules"), directory.file("node_modules"));
});
afterAll(async () => {
  directory[Symbol.dispose]();
  await server.close();
});

async function compile(name: string, files: readonly string[], options: object) {
  const compilerOptions = {
    ...{ strict: true, noEmit: true, noUncheckedIndexedAccess: true, skipLibCheck: false, types: ["node"] },
    ...{ target: "esnext", module: "esnext", moduleResolution: "bundler", lib: ["esnext", "dom", "dom.iterable"] },
    ...options,
  };
  const project = directory.file(`tsconfig.${name}.json`);
  writeFileSync(project, JSON.stringify({ compilerOptions, files }));
  return await runTool(apiTools.tsc, ["-p", project]);
}

const silent = { exitCode: 0, stdout: "", stderr: "" };

test("the programs compile, without a cast and under every strict setting", async () => {
  const [ofOpenapiFetch, ofHeyApi] = await Promise.all([
    compile("openapi-fetch", ["with-openapi-fetch.ts", "every-kind.ts"], { exactOptionalPropertyTypes: true }),
    // Its own part, which is generated as source, does not compile under `exactOptionalPropertyTypes`.
    compile("hey-api", ["with-hey-api.ts"], {}),
  ]);
  expect(ofOpenapiFetch).toEqual(silent);
  expect(ofHeyApi).toEqual(silent);
  for (const name of ["with-openapi-fetch.ts", "with-hey-api.ts", "every-kind.ts"]) {
    expect(readFileSync(directory.file(name), "utf8")).not.toMatch(/\bas\b(?! string)|\bany\b|@ts-|!\./);
  }
});

test("a program that is wrong about the API does not compile", async () => {
  writeFileSync(
    directory.file("wrong.ts"),
    readFileSync(directory.file("with-openapi-fetch.ts"), "utf8")
      .replace('"not_found"', '"unheard_of"')
      .replace("event.text", "event.words")
      .replace("greeting: null", "greeting: 7"),
  );
  const { exitCode, stdout } = await compile("wrong", ["wrong.ts"], {
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
  });
  expect(exitCode).not.toBe(0);
  for (const mistake of ["unheard_of", "'words' does not exist", "'number' is not assignable"]) {
    expect(stdout).toContain(mistake);
  }
});

const run = (name: string) => runTool(directory.file(name), [], { env: { BASE_URL: server.url, API_KEY: key } });

test.each(["with-openapi-fetch.ts", "with-hey-api.ts"])("%s runs", async (name) => {
  const { stdout, stderr, exitCode } = await run(name);
  expect(stderr).toBe("");
  expect(stdout).toBe(
    [
      "You said: What are your opening hours?",
      '{\n  customer: {\n    id: "42",\n  },\n  plan: "pro",\n}',
      '[ "Ada" ]',
      "[ 1 ]",
      "204",
      "There is no such companion.\n",
    ].join("\n"),
  );
  expect(exitCode).toBe(0);
});

test("a call of each kind runs", async () => {
  const { stdout, stderr } = await run("every-kind.ts");
  expect(stderr).toBe("");
  expect(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([
    [201, "Least", null],
    [true],
    ["Least", null],
    [2, null],
    [["user", "assistant"]],
    ["companion_id"],
    [1],
    ["invalid_request", ["name", "theme_color"]],
    [204, null],
    [true],
  ]);
});

test("nothing that goes over the wire is without a type, but what callers put there themselves", () => {
  const lines = generated.split("\n").filter((line) => !/^ *\/?\*(?!.*@enum)/.test(line));
  const untyped = lines.filter((line) => /\bunknown\b|Record<string, never>/.test(line));
  const known = /^ *(\[(name|key): string\]: unknown;|export type (webhooks|\$defs) = Record<string, never>;)$/;
  expect(untyped.filter((line) => !known.test(line))).toEqual([]);
});
