/** Holds the house rules: floors, vendors where they belong, short files, nothing dead. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { findImports, findViolations } from "./support/architecture.ts";
import { findCircles } from "./support/import-circles.ts";

const root = join(import.meta.dir, "..");

const read = (path: string) => readFileSync(join(root, path), "utf8");

function readTree(...folders: string[]): Map<string, string> {
  const tree = new Map<string, string>();
  for (const folder of folders) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
      const path = `${folder}/${entry}`;
      if (/\.tsx?$/.test(path) && !/^src\/(web|client)\/generated\//.test(path)) tree.set(path, read(path));
    }
  }
  return tree;
}

/** What the bundler names is what browsers load. */
function readWebEntries(): string[] {
  const script = read("scripts/build-web.ts");
  const named = [...script.matchAll(/"([\w/-]+\.tsx?)"/g)].map(([, path]) => `src/web/${path}`);
  return named.filter((path) => existsSync(join(root, path)));
}

test("the source tree keeps to the house rules", () => {
  const tree = readTree("src");
  expect(tree.size).toBeGreaterThan(50);
  const top = readdirSync(join(root, "src"), { withFileTypes: true });
  expect(top.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual(["main.ts"]);
  expect(top.length - 1).toBeLessThanOrEqual(14);
  expect(
    findViolations(tree, [...readWebEntries(), "src/client/index.ts", "src/engines/sqlite/checkpoint-thread.ts"]),
  ).toEqual([]);
});

test("files that comments and documents name are there", () => {
  const files = [...new Glob("{src,test,scripts,bench,faults,drizzle}/**/*.{ts,tsx,css,sql}").scanSync({ cwd: root })];
  const documents = [...new Glob("docs/**/*.md").scanSync({ cwd: root }), "CONTRIBUTING.md", "README.md"];
  const texts = new Map([...readTree("src"), ...documents.map((path) => [path, read(path)] as const)]);
  const named = [...texts].flatMap(([path, text]) =>
    [...text.matchAll(/`([\w./-]+\.(?:ts|tsx|css|sql))`/g)].map(([, name = ""]) => ({ path, name })),
  );
  expect(named.length).toBeGreaterThan(100);
  // A file of the reader's website.
  const isTheirs = (name: string) => name === "nuxt.config.ts";
  const isThere = (name: string) => files.some((file) => file === name || file.endsWith(`/${name}`));
  expect(named.filter(({ name }) => !isTheirs(name) && !isThere(name))).toEqual([]);
});

test("no files import one another in a circle", () => {
  expect(findCircles(readTree("src", "bench", "faults", "scripts", "test"))).toEqual([]);
});

test("a circle of imports is found, over types and imports on demand too", () => {
  const tree = new Map([
    ["src/a.ts", 'import type { B } from "./b.ts";'],
    ["src/b.ts", 'const c = await import("./c.ts");'],
    ["src/c.ts", 'import { a } from "./a.ts";\nimport "./d.ts";'],
    ["src/d.ts", 'import "./e.ts";'],
    ["src/e.ts", ""],
  ]);
  expect(findCircles(tree)).toEqual([["src/a.ts", "src/b.ts", "src/c.ts"]]);
});

/** A tree that is right, with the given files put into it and imported from `main.ts`. */
function violationsWith(files: Record<string, string>): string[] {
  const header = "/** Says what it is for. */\n";
  const tree = new Map<string, string>([["src/app/services.ts", header]]);
  for (const [path, code] of Object.entries(files)) tree.set(path, header + code);
  const imports = [...tree.keys()].map((path) => `import "./${path.slice("src/".length)}";\n`);
  if (!tree.has("src/main.ts"))
    tree.set("src/main.ts", header + imports.filter((line) => !line.includes("/web/")).join(""));
  return findViolations(tree, ["src/web/widget/index.ts"]).filter((violation) => !violation.startsWith("src/main.ts"));
}

test.each([
  ["a domain that looks up", "src/domain/a.ts", 'import { x } from "../http/b.ts";'],
  ["a domain that looks up for a type", "src/domain/a.ts", 'import type { X } from "../contracts/store/store.ts";'],
  ["a leaf that looks up", "src/lib/a.ts", 'import { x } from "../domain/b.ts";'],
  [
    "a contract that knows an engine",
    "src/contracts/llm/provider.ts",
    'import { x } from "../../engines/openai/openai.ts";',
  ],
  ["a resource that knows an engine", "src/api/chat/service.ts", 'import { x } from "../../engines/openai/openai.ts";'],
  ["HTTP that knows a part of an engine", "src/http/a.ts", 'import type { X } from "../engines/sqlite/open.ts";'],
  ["a resource that imports another", "src/api/chat/index.ts", 'import { x } from "../keys/model.ts";'],
  [
    "a resource that imports the wiring",
    "src/api/chat/index.ts",
    'import type { Config } from "../../config/config.ts";',
  ],
  ["a turn that knows HTTP", "src/core/turns/a.ts", 'import { x } from "../../http/b.ts";'],
  ["a service that knows HTTP", "src/api/chat/service.ts", 'import type { X } from "../../http/b.ts";'],
  ["shared HTTP that knows a resource", "src/http/a.ts", 'import { x } from "../api/chat/model.ts";'],
  ["an engine that imports another", "src/engines/demo/demo.ts", 'import { x } from "../openai/client.ts";'],
  [
    "an engine that imports another contract's",
    "src/engines/openai/openai.ts",
    'import { x } from "../sqlite/open.ts";',
  ],
  ["wiring beside app/ that knows an engine", "src/cli/a.ts", 'import { x } from "../engines/sqlite/open.ts";'],
  [
    "an engine that imports the copy between engines",
    "src/engines/sqlite/a.ts",
    'import { x } from "../store-copy/copy.ts";',
  ],
  ["an import over several lines", "src/domain/a.ts", 'import {\n  x,\n  y,\n} from "../http/b.ts";'],
  ["a re-export", "src/domain/a.ts", 'export * from "../http/b.ts";'],
  ["an import on demand", "src/domain/a.ts", 'const b = await import("../http/b.ts");'],
  ["elysia in a resource", "src/api/chat/index.ts", 'import { Elysia } from "elysia";'],
  ["schemas in the domain", "src/domain/a.ts", 'import { Type } from "@sinclair/typebox";'],
  ["SQL in a resource", "src/api/chat/service.ts", 'import { Database } from "bun:sqlite";'],
  ["drizzle in the wiring", "src/app/app.ts", 'import { sql } from "drizzle-orm";'],
  ["a parser of documents in the server", "src/core/knowledge/reading/a.ts", 'import { parseHTML } from "linkedom";'],
  ["openai beside its engine", "src/engines/demo/demo.ts", 'import OpenAI from "openai";'],
  ["the environment beside config/config.ts", "src/lib/a.ts", "export const home = process.env.HOME;"],
  ["Bun's environment", "src/cli/a.ts", "export const home = Bun.env.HOME;"],
  ["an end of the process beside main.ts", "src/cli/a.ts", "process.exit(1);"],
  ["Redis beside its connection", "src/engines/redis/a.ts", 'import { RedisClient } from "bun";'],
  ["an engine's file beside the engine", "src/cli/a.ts", 'export const file = "companiond.db";'],
  ["an engine's log beside the engine", "src/app/probes.ts", 'export const log = file + "-wal";'],
  ["an engine's name beside the engine", "src/server/jobs/a.ts", 'export const engine = "SQLite";'],
  ["a file that is too long", "src/lib/a.ts", "\n".repeat(250)],
  ["server code in the browser", "src/web/widget/index.ts", 'import { x } from "../../lib/clock.ts";'],
  ["a model's value in the browser", "src/web/widget/index.ts", 'import { x } from "../../api/chat/model.ts";'],
  ["a schema in the browser", "src/web/widget/index.ts", 'import { x } from "../../api/keys/responses.ts";'],
  ["browser code in the server", "src/api/assets/index.ts", 'import { x } from "../../web/widget/index.ts";'],
  ["server code in the client for servers", "src/client/a.ts", 'import type { X } from "../api/keys/model.ts";'],
  ["the client in the server", "src/cli/a.ts", 'import { x } from "../client/index.ts";'],
  ["the client in the browser", "src/web/widget/index.ts", 'import { x } from "../../client/index.ts";'],
  ["browser code in what clients share", "src/reply-reader/a.ts", 'import { x } from "../web/widget/index.ts";'],
  ["what clients share in the server", "src/cli/a.ts", 'import { x } from "../reply-reader/errors.ts";'],
])("refuses %s", (_, path, code) => {
  const violations = violationsWith({ [path]: code });
  expect(violations).toHaveLength(1);
  expect(violations[0]).toStartWith(`${path}: `);
});

test.each([
  ["src/http/a.ts", 'import { Elysia } from "elysia";'],
  ["src/api/chat/index.ts", 'import { x } from "../../http/a.ts";\nimport { y } from "./service.ts";'],
  ["src/api/chat/service.ts", 'import type { Store } from "../../contracts/store/store.ts";'],
  ["src/engines/sqlite/open.ts", 'import { Database } from "bun:sqlite";\nimport { x } from "./writer.ts";'],
  ["src/app/llm.ts", 'import { x } from "../engines/openai/openai.ts";\nimport { y } from "../engines/demo/demo.ts";'],
  ["src/engines/openai/openai.ts", 'import OpenAI from "openai";\nimport { x } from "./client.ts";'],
  ["src/engines/postgres/a.ts", 'import { x } from "../store-shared/rows/b.ts";'],
  ["src/engines/store-copy/copy.ts", 'import { x } from "../sqlite/open.ts";'],
  ["src/core/dependencies.ts", 'import type { X } from "../http/b.ts";'],
  ["src/config/config.ts", "export const all = process.env;"],
  ["src/engines/sqlite/sqlite.ts", 'export const file = "companiond.db-wal";'],
  ["src/cli/a.ts", "// SQLite would lock it.\nexport const a = 1;"],
  ["src/lib/a.ts", "// process.env is not for us\nexport const a = 1;"],
  ["src/web/widget/index.ts", 'import type { X } from "../../api/chat/model.ts";'],
  ["src/web/widget/index.ts", 'import { x } from "../../reply-reader/errors.ts";'],
  ["src/web/widget/index.ts", 'export type { X } from "../../api/keys/responses.ts";'],
])("takes what belongs into %s", (path, code) => {
  expect(violationsWith({ [path]: code })).toEqual([]);
});

test("refuses a file that nothing imports, and one without an opening sentence", () => {
  const tree = new Map([
    ["src/main.ts", '/** Runs. */\nimport "./a.ts";\n'],
    ["src/a.ts", "export const a = 1;\n"],
    ["src/b.ts", '/** Dead, with its own import. */\nimport "./a.ts";\n'],
  ]);
  expect(findViolations(tree, [])).toEqual([
    "src/a.ts: does not open with a sentence that says what it is for",
    "src/b.ts: nothing that runs imports it",
  ]);
});

test("sees every form of import, and none in comments", () => {
  const code = `import a from "./a.ts";
import type { B } from "./b.ts";
import { type C, d } from "./c.ts";
import "./e.ts";
export type * from "./f.ts";
import text from "./g.sql" with { type: "text" };
// import h from "./h.ts";
/* import i from "./i.ts"; */
const words = "import";
`;
  expect(findImports(code)).toEqual([
    { specifier: "./a.ts", isTypeOnly: false },
    { specifier: "./b.ts", isTypeOnly: true },
    { specifier: "./c.ts", isTypeOnly: false },
    { specifier: "./e.ts", isTypeOnly: false },
    { specifier: "./f.ts", isTypeOnly: true },
    { specifier: "./g.sql", isTypeOnly: false },
  ]);
});
