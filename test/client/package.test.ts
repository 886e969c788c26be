/** The client for servers as others install it: on Node, and in a strict TypeScript program. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startTestServer, type TestServer } from "../support/app.ts";
import { installClientPackage } from "../support/client-package.ts";
import { codeBlocks } from "../support/code-blocks.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

const tsc = join(import.meta.dir, "../../node_modules/.bin/tsc");
let server: TestServer;
let directory: TemporaryDirectory;
let installed: string;
let key: string;

beforeAll(async () => {
  directory = temporaryDirectory();
  installed = await installClientPackage(directory.path);
  server = await startTestServer();
  ({ key } = await server.createKey(await server.createAccount()));
});
afterAll(async () => {
  await server.close();
  directory[Symbol.dispose]();
});

test("the package stands alone: one module, its types, no dependencies, no runtime's own modules", () => {
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  expect(manifest).toMatchObject({ name: "companiond-client", type: "module", engines: { node: ">=18" } });
  for (const kind of ["dependencies", "peerDependencies", "optionalDependencies", "scripts"]) {
    expect(manifest).not.toHaveProperty(kind);
  }
  expect(readdirSync(installed).toSorted()).toEqual(["LICENSE", "README.md", "index.js", "package.json", "types"]);
  const code = readFileSync(join(installed, "index.js"), "utf8");
  expect(code).not.toMatch(/\bimport\b[ (*{]|\brequire\(|\b(Bun|Deno|Buffer|process)\./);
  expect(Bun.gzipSync(code).length).toBeLessThan(10 * 1024);
});

const program = `
import { Companiond, CompaniondError } from "companiond-client";
import type { Companion, NewCompanion, UsageRow } from "companiond-client";

const client = new Companiond({ baseUrl: process.env.BASE_URL ?? "", apiKey: process.env.API_KEY ?? "" });
const wanted: NewCompanion = { name: "Ada", metadata: { plan: "pro" } };
const made: Companion = await client.companions.create(wanted);
const reply = client.companions.chat(made.id, { message: "Hello", visitor: { sub: "user-42" } });
const texts: string[] = [];
for await (const text of reply) texts.push(text);
console.log(texts.join(""));
for await (const { visitor } of client.conversations.listAll({ companion_id: made.id })) console.log(visitor?.sub);
const rows: UsageRow[] = (await client.usage.query({ companion_id: made.id })).data;
console.log(rows.map(({ messages }) => messages).join());
await client.companions.delete(made.id);
try {
  await client.companions.get(made.id);
} catch (error) {
  if (error instanceof CompaniondError && error.code === "not_found") console.log(error.status, error.errors.length);
}
`;

/** Not run: what the compiler has to say of lists. */
const listed = `
import { Companiond, type PartialCompanion } from "companiond-client";

export async function list(client: Companiond, fields: string | undefined): Promise<string[]> {
  const names: string[] = (await client.companions.list({ limit: 1 })).data.map(({ name }) => name);
  for await (const { name } of client.companions.listAll()) names.push(name);
  const query = { fields: "name", metadata: { plan: ["pro", "team"], seats: 5 } } as const;
  const rows: PartialCompanion[] = (await client.companions.list(query)).data;
  for await (const { id, name } of client.companions.listAll({ fields })) names.push(id, name ?? "");
  // @ts-expect-error: it may not have been among the fields.
  names.push(...rows.map(({ name }) => name));
  return [...names, ...rows.map(({ id }) => id)];
}
`;

/** What surrounds the examples of the page. */
const ambient = `
declare const process: { env: Record<string, string | undefined>; stdout: { write(text: string): void } };
declare const id: string, message: string, session_id: string | undefined;
declare const signal: AbortSignal, response: { write(text: string): void };
declare function saveSession(id: string): Promise<void>;
`;

test("a strict program and the examples of the page compile against its types, as source for Node and for bundlers", async () => {
  writeFileSync(join(directory.path, "package.json"), '{"type":"module"}');
  writeFileSync(directory.file("program.ts"), program);
  writeFileSync(directory.file("listed.ts"), listed);
  writeFileSync(directory.file("ambient.d.ts"), ambient);
  const page = readFileSync(join(import.meta.dir, "../../docs/client.md"), "utf8");
  const [first = "", ...others] = codeBlocks(page, "ts");
  expect(others).not.toBeEmpty();
  // The first stands alone; the others go on with its client.
  const examples = [first, ...others.map((text) => `${first}\n{${text}}\n`)].map((text, index) => {
    writeFileSync(directory.file(`example${index}.ts`), text);
    return `example${index}.ts`;
  });
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
  const shared = { ...strict, target: "es2022", skipLibCheck: false, types: [], lib: ["es2023", "dom"], outDir: "out" };
  const compilers = ["node16", "bundler"].map(async (moduleResolution) => {
    const module = moduleResolution === "node16" ? "node16" : "es2022";
    const project = directory.file(`tsconfig.${moduleResolution}.json`);
    const compilerOptions = { ...shared, module, moduleResolution };
    writeFileSync(
      project,
      JSON.stringify({ compilerOptions, files: ["program.ts", "listed.ts", "ambient.d.ts", ...examples] }),
    );
    const child = Bun.spawn([tsc, "-p", project], { stdout: "pipe", stderr: "pipe" });
    return `${await child.stdout.text()}${await child.stderr.text()}`;
  });
  expect(await Promise.all(compilers)).toEqual(["", ""]);
});

test("it runs on Node", async () => {
  const child = Bun.spawn(["node", directory.file("out/program.js")], {
    env: { PATH: process.env.PATH ?? "", BASE_URL: server.url, API_KEY: key },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  expect({ stdout, stderr }).toEqual({ stdout: "You said: Hello\nuser-42\n1\n404 0\n", stderr: "" });
});
