/**
 * Builds `dist/companiond`: first the browser bundles that it embeds, then the executable.
 *
 *   bun scripts/build.ts [--web-only | --executable-only] [--outfile dist/companiond] [--outdir dist]
 *   bun scripts/build.ts --target linux-arm64 --target windows-x64        # or --target all
 *   bun scripts/build.ts --releases-url URL --releases-key BASE64         # where it finds updates, and whose it trusts
 *
 * With targets it writes one executable each, `dist/companiond-<target>`, and their checksums to `dist/SHA256SUMS`, for
 * `sha256sum --check`.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { buildTime, readCommit } from "./build-stamp.ts";
import { writeChecksums } from "./checksums.ts";
import { leaveOutUnused } from "./left-out.ts";

const root = join(import.meta.dir, "..");
/** How much larger than Bun itself the executable may be. */
const allowanceBytes = 39 * 1024 * 1024;

/** `docs/releases.md` says which of them are tested. */
const targets = {
  "linux-x64": "bun-linux-x64",
  "linux-arm64": "bun-linux-arm64",
  "linux-x64-musl": "bun-linux-x64-musl",
  "linux-arm64-musl": "bun-linux-arm64-musl",
  "darwin-x64": "bun-darwin-x64",
  "darwin-arm64": "bun-darwin-arm64",
  "windows-x64": "bun-windows-x64",
} as const satisfies Record<string, Bun.Build.CompileTarget>;
type Target = keyof typeof targets;

const { values: options } = parseArgs({
  options: {
    "web-only": { type: "boolean", default: false },
    "executable-only": { type: "boolean", default: false },
    target: { type: "string", multiple: true, default: [] },
    outfile: { type: "string" },
    outdir: { type: "string", default: join(root, "dist") },
    "releases-url": { type: "string" },
    "releases-key": { type: "string" },
  },
});
const wanted = readTargets(options.target);
if (wanted.length > 1 && options.outfile !== undefined) refuse("--outfile names one file: give one --target with it.");

if (!options["executable-only"]) await buildWebBundles();
if (!options["web-only"]) await buildExecutables();

function readTargets(names: readonly string[]): Target[] {
  if (names.includes("all")) return Object.keys(targets) as Target[];
  return names.map((name) => {
    const target = name.replace(/^bun-/, "");
    if (target in targets) return target as Target;
    return refuse(`there is no target ${name}: it is one of ${Object.keys(targets).join(", ")}, or all.`);
  });
}

function refuse(sentence: string): never {
  console.error(`build: ${sentence}`);
  process.exit(2);
}

async function buildExecutables(): Promise<void> {
  const { outdir } = options;
  if (wanted.length === 0) return await buildExecutable(options.outfile ?? join(outdir, "companiond"), undefined);
  const files: string[] = [];
  for (const target of wanted) {
    const suffix = target.startsWith("windows-") ? ".exe" : "";
    const file = options.outfile ?? join(outdir, `companiond-${target}${suffix}`);
    await buildExecutable(file, targets[target]).catch((error: unknown) => {
      // Bun takes the runtime for another system from the npm registry, once for each version.
      const reason = /Failed to download .*/.exec(Bun.inspect(error))?.[0];
      if (reason === undefined) throw error;
      refuse(`the runtime for ${target} could not be downloaded from the npm registry. ${reason}`);
    });
    files.push(file);
  }
  writeChecksums(dirname(files[0] ?? outdir), files);
}

/** `build-web.ts` makes the bundles; a tree without browser code has none. */
async function buildWebBundles(): Promise<void> {
  const script = join(import.meta.dir, "build-web.ts");
  if (!existsSync(script)) return;
  const { buildWeb }: { buildWeb: () => Promise<void> } = await import(script);
  await buildWeb();
  const { writeGuides } = await import("./build-guides.ts");
  writeGuides();
  // The routes, which it reads, embed the bundles.
  const { writeWireTypes } = await import("./wire-types.ts");
  writeWireTypes();
}

async function buildExecutable(outfile: string, target: Bun.Build.CompileTarget | undefined): Promise<void> {
  mkdirSync(dirname(outfile), { recursive: true });
  const startedMs = performance.now();
  // The executable contains the source maps; the copies written beside it would only confuse.
  const workshop = mkdtempSync(join(dirname(outfile), ".build-"));
  const made = join(workshop, basename(outfile));
  try {
    await compile(made, target);
    renameSync(made, outfile);
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
  reportSize(outfile, target !== undefined, performance.now() - startedMs);
}

async function compile(outfile: string, target: Bun.Build.CompileTarget | undefined): Promise<void> {
  const [{ stampDocument }, { routes }] = await Promise.all([
    import("../src/api/docs/reference.ts"),
    import("../src/app/routes.ts"),
  ]);
  await Bun.build({
    // A thread begins with a module of its own.
    entrypoints: [join(root, "src", "main.ts"), join(root, "src", "engines", "sqlite", "checkpoint-thread.ts")],
    plugins: [leaveOutUnused],
    compile: {
      outfile,
      ...(target === undefined ? {} : { target }),
      // The working directory belongs to the operator: no file in it may run or configure the server implicitly.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
    // Code that is imported on demand stays in separate files, which a start does not read.
    splitting: true,
    minify: true,
    bytecode: true,
    format: "esm",
    sourcemap: "inline",
    define: {
      COMPANIOND_BUILD: JSON.stringify({
        commit: readCommit(),
        builtAt: buildTime().toISOString(),
        target: (target ?? `bun-${process.platform}-${process.arch}`).slice("bun-".length),
        apiStamp: stampDocument(routes),
        releasesUrl: options["releases-url"] ?? null,
        releasesKey: options["releases-key"] ?? null,
      }),
      "process.env.NODE_ENV": '"production"',
    },
  });
}

function reportSize(outfile: string, isForeign: boolean, durationMs: number): void {
  const size = statSync(outfile).size;
  const seconds = (durationMs / 1000).toFixed(1);
  if (isForeign) {
    console.log(`Built ${outfile}: ${inMiB(size)} in ${seconds} s.`);
    return;
  }
  const ownSize = statSync(process.execPath).size;
  console.log(`Built ${outfile}: ${inMiB(size)} in ${seconds} s, ${inMiB(size - ownSize)} more than Bun itself.`);
  if (size <= ownSize + allowanceBytes) return;
  console.error(`It may be ${inMiB(allowanceBytes)} larger at most.`);
  process.exit(1);
}

function inMiB(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
