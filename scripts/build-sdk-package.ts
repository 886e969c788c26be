/**
 * Writes the clients as npm packages, each one module without dependencies, its types, and a README: the SDK for websites,
 * and the client for servers.
 *
 *   bun scripts/build-sdk-package.ts [dist]          # dist/sdk and dist/client
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { writeWireTypes } from "./wire-types.ts";

const root = join(import.meta.dir, "..");

interface ClientPackage {
  name: string;
  description: string;
  /** With `index.ts` and a `tsconfig.json`. */
  source: string;
  readme: string;
  target: "browser" | "node";
}

const sdk: ClientPackage = {
  name: "companiond-sdk",
  description:
    "The client of companiond for websites that bring their own chat: configuration, streamed replies, voice sessions.",
  source: join(root, "src", "web", "sdk"),
  readme: join(root, "docs", "sdk.md"),
  target: "browser",
};

const client: ClientPackage = {
  name: "companiond-client",
  description: "The client of companiond for servers: companions, chat, conversations, keys and usage, fully typed.",
  source: join(root, "src", "client"),
  readme: join(root, "docs", "client.md"),
  target: "node",
};

export const buildSdkPackage = (folder: string) => buildPackage(sdk, folder);

export async function buildClientPackage(folder: string): Promise<void> {
  writeWireTypes();
  await buildPackage(client, folder);
}

async function buildPackage(made: ClientPackage, folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // Not minified: whoever uses it has bundlers for that, and people read it.
  const { outputs } = await Bun.build({
    entrypoints: [join(made.source, "index.ts")],
    target: made.target,
    format: "esm",
  });
  writeFileSync(join(folder, "index.js"), (await outputs[0]?.text()) ?? "");
  writeTypes(made.source, join(folder, "types"));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(describePackage(made), null, 2)}\n`);
  cpSync(made.readme, join(folder, "README.md"));
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
}

function describePackage({ name, description, target }: ClientPackage) {
  return {
    name,
    version: manifest.version,
    description,
    license: manifest.license,
    type: "module",
    sideEffects: false,
    exports: { ".": { types: "./types/index.d.ts", default: "./index.js" } },
    types: "./types/index.d.ts",
    files: ["index.js", "types"],
    ...(target === "node" ? { engines: { node: ">=18" } } : {}),
  };
}

function writeTypes(source: string, folder: string): void {
  const options = ["--declaration", "--emitDeclarationOnly", "--noEmit", "false", "--rootDir", source];
  const build = Bun.spawnSync([
    ...[process.execPath, "x", "--no-install", "tsc", "-p", join(source, "tsconfig.json")],
    ...[...options, "--outDir", folder],
  ]);
  if (!build.success) throw new Error(`The types could not be written:\n${build.stdout}${build.stderr}`);
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".d.ts")) continue;
    const path = join(folder, file);
    // The declarations refer to the sources; outside this repository there are only declarations.
    const text = readFileSync(path, "utf8").replace(/((?:from |import\()"\.{1,2}\/[\w./-]+)\.ts"/g, '$1.js"');
    writeFileSync(path, text);
  }
}

if (import.meta.main) {
  const folder = process.argv[2] ?? join(root, "dist");
  await buildSdkPackage(join(folder, "sdk"));
  await buildClientPackage(join(folder, "client"));
  for (const name of ["sdk", "client"]) {
    const bytes = readFileSync(join(folder, name, "index.js"));
    console.log(`${join(folder, name)}: ${bytes.length} bytes, ${Bun.gzipSync(bytes).length} compressed`);
  }
}
