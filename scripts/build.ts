/**
 * Builds `dist/companiond`: first the browser bundles that it embeds, then the executable.
 *
 *   bun scripts/build.ts [--web-only | --executable-only] [--target bun-linux-arm64] [--outfile dist/companiond]
 */
import { existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";

const root = join(import.meta.dir, "..");
/** The executable may be this much larger than Bun itself. */
const allowanceBytes = 16 * 1024 * 1024;

const { values: options } = parseArgs({
  options: {
    "web-only": { type: "boolean", default: false },
    "executable-only": { type: "boolean", default: false },
    target: { type: "string" },
    outfile: { type: "string", default: join(root, "dist", "companiond") },
  },
});

if (!options["executable-only"]) await buildWebBundles();
if (!options["web-only"]) await buildExecutable(options.outfile, options.target as Bun.Build.CompileTarget | undefined);

/** The bundles are the business of `build-web.ts`; a tree without browser code has none. */
async function buildWebBundles(): Promise<void> {
  const script = join(import.meta.dir, "build-web.ts");
  if (!existsSync(script)) return;
  const { buildWeb }: { buildWeb: () => Promise<void> } = await import(script);
  await buildWeb();
}

async function buildExecutable(outfile: string, target: Bun.Build.CompileTarget | undefined): Promise<void> {
  mkdirSync(dirname(outfile), { recursive: true });
  const startedMs = performance.now();
  await Bun.build({
    entrypoints: [join(root, "src", "main.ts")],
    compile: {
      outfile,
      ...(target === undefined ? {} : { target }),
      // The working directory belongs to the operator: nothing in it may run or configure the server unasked.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
    minify: true,
    bytecode: true,
    format: "esm",
    sourcemap: "inline",
    define: {
      COMPANIOND_BUILD: JSON.stringify({ commit: readCommit(), builtAt: new Date().toISOString() }),
      "process.env.NODE_ENV": '"production"',
    },
  });
  // The map is inside the executable; the copy beside it would only be mistaken for a part of it.
  rmSync(`${outfile}.map`, { force: true });
  reportSize(outfile, target !== undefined, performance.now() - startedMs);
}

function readCommit(): string | null {
  const commit = run("git", "rev-parse", "--short=12", "HEAD");
  if (commit === null) return null;
  return run("git", "status", "--porcelain", "--untracked-files=no") === "" ? commit : `${commit}+`;
}

function run(...command: string[]): string | null {
  try {
    const done = Bun.spawnSync(command, { cwd: root, stderr: "ignore" });
    return done.success ? done.stdout.toString().trim() : null;
  } catch {
    return null;
  }
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
