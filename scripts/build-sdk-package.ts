/**
 * Writes the SDK as an npm package: two modules without dependencies, its types, and a README.
 *
 *   bun scripts/build-sdk-package.ts [dist/sdk]
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };

const root = join(import.meta.dir, "..");
const sdk = join(root, "src", "web", "sdk");

/** The second solves challenges, for programs that cannot load it from the server. */
const modules = { "index.js": "index.ts", "challenge.js": "challenge-solver.ts" };

export async function buildSdkPackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // Not minified: websites that use it have bundlers for that, and people read it.
  for (const [file, entry] of Object.entries(modules)) {
    const { outputs } = await Bun.build({ entrypoints: [join(sdk, entry)], target: "browser", format: "esm" });
    writeFileSync(join(folder, file), (await outputs[0]?.text()) ?? "");
  }
  writeTypes(join(folder, "types"));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(describePackage(), null, 2)}\n`);
  cpSync(join(root, "docs", "sdk.md"), join(folder, "README.md"));
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
}

function describePackage() {
  return {
    name: "companiond-sdk",
    version: manifest.version,
    description:
      "The client of companiond for websites that bring their own chat: configuration, streamed replies, voice sessions.",
    license: manifest.license,
    type: "module",
    sideEffects: false,
    exports: {
      ".": { types: "./types/index.d.ts", default: "./index.js" },
      "./challenge": { types: "./types/challenge-solver.d.ts", default: "./challenge.js" },
    },
    types: "./types/index.d.ts",
    files: [...Object.keys(modules), "types"],
  };
}

function writeTypes(folder: string): void {
  const options = ["--declaration", "--emitDeclarationOnly", "--noEmit", "false", "--rootDir", sdk, "--outDir", folder];
  const build = Bun.spawnSync([
    process.execPath,
    "x",
    "--no-install",
    "tsc",
    "-p",
    join(sdk, "tsconfig.json"),
    ...options,
  ]);
  if (!build.success) throw new Error(`The types of the SDK could not be written:\n${build.stdout}${build.stderr}`);
  for (const file of readdirSync(folder)) {
    const path = join(folder, file);
    // The declarations refer to the sources; outside this repository there are only declarations.
    writeFileSync(path, readFileSync(path, "utf8").replace(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"'));
  }
}

if (import.meta.main) await buildSdkPackage(process.argv[2] ?? join(root, "dist", "sdk"));
