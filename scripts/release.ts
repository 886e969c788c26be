/**
 * Makes what a release consists of, in `dist/release`: an executable for every target, the bill of materials, the
 * third-party notices, and the checksums of all of them.
 *
 *   bun scripts/release.ts [--target linux-x64]... [--outdir dist/release] [--executable-only]
 *
 * `--executable-only` takes the browser bundles as they are.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildWeb } from "./build-web.ts";
import { findBundledPackages } from "./bundled-packages.ts";
import { writeChecksums } from "./checksums.ts";
import { renderSbom } from "./sbom.ts";
import { renderNotices } from "./third-party-notices.ts";

const { values: options } = parseArgs({
  options: {
    target: { type: "string", multiple: true, default: ["all"] },
    outdir: { type: "string", default: join(import.meta.dir, "../dist/release") },
    "executable-only": { type: "boolean", default: false },
  },
});
const { outdir } = options;

// What an earlier run left would get into the checksums.
rmSync(outdir, { recursive: true, force: true });
mkdirSync(outdir, { recursive: true });
if (!options["executable-only"]) await buildWeb();
const targets = options.target.flatMap((name) => ["--target", name]);
const build = ["scripts/build.ts", "--executable-only", ...targets, "--outdir", outdir];
const { exited } = Bun.spawn([process.execPath, ...build], {
  cwd: join(import.meta.dir, ".."),
  stdio: ["ignore", 1, 2],
});
const exitCode = await exited;
if (exitCode !== 0) process.exit(exitCode);

const packages = await findBundledPackages();
writeFileSync(join(outdir, "sbom.cdx.json"), renderSbom(packages, new Date()));
writeFileSync(join(outdir, "THIRD-PARTY-NOTICES.txt"), renderNotices(packages));
const files = readdirSync(outdir).filter((name) => name !== "SHA256SUMS");
writeChecksums(
  outdir,
  files.sort().map((name) => join(outdir, name)),
);
console.log(`Wrote ${files.length} files and their checksums to ${outdir}.`);
