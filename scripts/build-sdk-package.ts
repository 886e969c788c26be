/**
 * Writes the clients as npm packages, each without dependencies, with its types and a README: the SDK for websites, and the
 * client for servers.
 *
 *   bun scripts/build-sdk-package.ts [dist]          # dist/sdk and dist/client
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { writeWireTypes } from "./wire-types.ts";

const root = join(import.meta.dir, "..");
const sources = join(root, "src");

interface ClientPackage {
  name: string;
  description: string;
  /** Folder of `src`, with `index.ts` and a `tsconfig.json`. */
  source: string;
  readme: string;
  /** Modules beside the first one, by the names under which they are imported. */
  others: Readonly<Record<string, string>>;
  target: "browser" | "node";
}

const sdk: ClientPackage = {
  name: "companiond-sdk",
  description:
    "The client of companiond for websites that bring their own chat: configuration, streamed replies, voice sessions.",
  source: "web/sdk",
  readme: join(root, "docs", "sdk.md"),
  // For programs that cannot load it from the server.
  others: { challenge: "challenge-solver" },
  target: "browser",
};

const client: ClientPackage = {
  name: "companiond-client",
  description: "The client of companiond for servers: companions, chat, conversations, keys and usage, fully typed.",
  source: "client",
  readme: join(root, "docs", "client.md"),
  others: {},
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
  for (const [name, module] of listModules(made)) {
    const entrypoints = [join(sources, made.source, `${module}.ts`)];
    const { outputs } = await Bun.build({ entrypoints, target: made.target, format: "esm" });
    writeFileSync(join(folder, `${name}.js`), (await outputs[0]?.text()) ?? "");
  }
  writeTypes(made.source, join(folder, "types"));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(describePackage(made), null, 2)}\n`);
  cpSync(made.readme, join(folder, "README.md"));
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
}

/** The names of the modules in the package, and of their sources. */
function listModules({ others }: ClientPackage): [name: string, module: string][] {
  return [["index", "index"], ...Object.entries(others)];
}

function describePackage(made: ClientPackage) {
  const { name, description, source, target } = made;
  const modules = listModules(made);
  return {
    name,
    version: manifest.version,
    description,
    license: manifest.license,
    type: "module",
    sideEffects: false,
    exports: Object.fromEntries(
      modules.map(([file, module]) => [
        file === "index" ? "." : `./${file}`,
        { types: `./types/${source}/${module}.d.ts`, default: `./${file}.js` },
      ]),
    ),
    types: `./types/${source}/index.d.ts`,
    files: [...modules.map(([file]) => `${file}.js`), "types"],
    ...(target === "node" ? { engines: { node: ">=18" } } : {}),
  };
}

function writeTypes(source: string, folder: string): void {
  // With those of `reply-reader`, which stands beside both.
  const options = ["--declaration", "--emitDeclarationOnly", "--noEmit", "false", "--rootDir", sources];
  const build = Bun.spawnSync([
    ...[process.execPath, "x", "--no-install", "tsc", "-p", join(sources, source, "tsconfig.json")],
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
