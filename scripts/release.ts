/**
 * Makes what a release consists of, in `dist/release`; `docs/releases.md` says what each file is for.
 *
 *   bun scripts/release.ts [--target linux-x64]... [--outdir dist/release] [--signing-key FILE] [--releases-url URL]
 *                          [--base-url URL] [--maintainer "Name <address>"] [--compression-level 9] [--executable-only]
 *
 * `--executable-only` takes the browser bundles as they are.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { version } from "../package.json";
import { writeGuides } from "./build-guides.ts";
import { buildTime } from "./build-stamp.ts";
import { buildWeb } from "./build-web.ts";
import { findBundledPackages } from "./bundled-packages.ts";
import { sha256Of, writeChecksums } from "./checksums.ts";
import { clientPackageName, writeClientPackage } from "./release/client-package.ts";
import { type CompressionLevel, type DebArchitecture, debArchitectures, debFileName, writeDeb } from "./release/deb.ts";
import { debFiles, debScripts, type ReleaseTexts } from "./release/deb-files.ts";
import { writeImageContext } from "./release/image-context.ts";
import { renderInstallScript } from "./release/install-script.ts";
import { describeRelease, readBaseUrl, readSigningKey, type SigningKey } from "./release/signing.ts";
import { renderSbom } from "./sbom.ts";
import { renderNotices } from "./third-party-notices.ts";

const { values: options } = parseArgs({
  options: {
    target: { type: "string", multiple: true, default: ["all"] },
    outdir: { type: "string", default: join(import.meta.dir, "../dist/release") },
    "executable-only": { type: "boolean", default: false },
    "signing-key": { type: "string", default: process.env["COMPANIOND_RELEASES_SIGNING_KEY_FILE"] ?? "" },
    "releases-url": { type: "string" },
    "base-url": { type: "string" },
    maintainer: { type: "string", default: "The companiond authors <companiond@localhost>" },
    "compression-level": { type: "string", default: "9" },
  },
});
const { outdir, maintainer } = options;
const { key, releasesUrl, baseUrl, compressionLevel } = readOrRefuse();
const builtAt = buildTime();

// What an earlier run left would get into the checksums.
rmSync(outdir, { recursive: true, force: true });
mkdirSync(outdir, { recursive: true });
if (!options["executable-only"]) {
  await buildWeb();
  writeGuides();
}
await buildExecutables();
const texts = await makeTexts();
writeTexts(texts);
writePackages(texts);
write(clientPackageName(version), await writeClientPackage(builtAt, compressionLevel));
if (key !== null) writeDescription(key);
const files = readdirSync(outdir).filter((name) => !name.startsWith("SHA256SUMS"));
writeChecksums(
  outdir,
  files.sort().map((name) => join(outdir, name)),
);
if (key !== null) write("SHA256SUMS.sig", `${key.sign(readFileSync(join(outdir, "SHA256SUMS")))}\n`);
console.log(`Wrote ${files.length} files and their checksums to ${outdir}.`);
console.log(
  key === null
    ? "Nothing is signed: --signing-key names no key. There is no latest.json, and companiond update takes none of it."
    : `Signed with the key whose public half is ${key.publicKey}.`,
);

/** All that can be wrong with the command, before minutes go by. */
function readOrRefuse() {
  try {
    const level = Number(options["compression-level"]);
    if (!(Number.isInteger(level) && level >= 1 && level <= 9)) throw new Error("--compression-level is 1 to 9.");
    if (!/^[^<>\n]+ <[^<>\s]+@[^<>\s]+>$/.test(maintainer)) throw new Error('--maintainer is "Name <address>".');
    const releasesUrl = readUrl("releases-url");
    return {
      key: options["signing-key"] === "" ? null : readSigningKey(options["signing-key"]),
      releasesUrl,
      // Each version in a folder of its own, so that its description holds when there is a newer one.
      baseUrl: readUrl("base-url") ?? (releasesUrl === null ? null : `${releasesUrl}${version}/`),
      compressionLevel: level as CompressionLevel,
    };
  } catch (error) {
    console.error(`release: ${error instanceof Error ? error.message : error}`);
    process.exit(2);
  }
}

function readUrl(option: "releases-url" | "base-url"): string | null {
  const text = options[option];
  return text === undefined ? null : readBaseUrl(option, text);
}

async function buildExecutables(): Promise<void> {
  const build = ["scripts/build.ts", "--executable-only", "--outdir", outdir];
  build.push(...options.target.flatMap((name) => ["--target", name]));
  if (key !== null) build.push("--releases-key", key.publicKey);
  if (releasesUrl !== null) build.push("--releases-url", releasesUrl.replace(/\/$/, ""));
  const { exited } = Bun.spawn([process.execPath, ...build], {
    cwd: join(import.meta.dir, ".."),
    stdio: ["ignore", 1, 2],
  });
  const exitCode = await exited;
  if (exitCode !== 0) process.exit(exitCode);
}

async function makeTexts(): Promise<ReleaseTexts> {
  // The commands embed the browser bundles, which are there only now.
  const { makeCommandTexts } = await import("./release/command-texts.ts");
  const packages = await findBundledPackages();
  return {
    ...(await makeCommandTexts(version, builtAt, { hasReleases: key !== null })),
    notices: renderNotices(packages),
    sbom: renderSbom(packages, builtAt),
  };
}

function writeTexts({ manPage, completions, notices, sbom }: ReleaseTexts): void {
  write("THIRD-PARTY-NOTICES.txt", notices);
  write("sbom.cdx.json", sbom);
  write("companiond.1", manPage);
  write("companiond.bash", completions.bash);
  write("_companiond", completions.zsh);
  write("companiond.fish", completions.fish);
  write("install.sh", renderInstallScript(baseUrl, key), 0o755);
  if (key !== null) write("release-key.pem", key.publicPem);
}

function writePackages(texts: ReleaseTexts): void {
  const executables = new Map<DebArchitecture, Uint8Array>();
  for (const [architecture, { target }] of Object.entries(debArchitectures) as [
    DebArchitecture,
    { target: string },
  ][]) {
    const name = `companiond-${target}`;
    if (!readdirSync(outdir).includes(name)) continue;
    const executable = readFileSync(join(outdir, name));
    executables.set(architecture, executable);
    const facts = { version, maintainer, builtAt };
    const contents = { files: debFiles(texts, facts), scripts: debScripts() };
    const deb = writeDeb({ ...facts, ...contents, architecture, executable, compressionLevel });
    write(debFileName(version, architecture), deb);
  }
  if (executables.size === 0) return;
  write(`companiond-${version}-image.tar.gz`, writeImageContext(executables, builtAt, compressionLevel));
}

function writeDescription(signingKey: SigningKey): void {
  const executables = readdirSync(outdir).flatMap((name) => {
    const target = /^companiond-((?:linux|darwin|windows)-[a-z0-9-]+)(?:\.exe)?$/.exec(name)?.[1];
    return target === undefined ? [] : [{ target, name, sha256: sha256Of(join(outdir, name)) }];
  });
  const description = describeRelease(version, executables, signingKey, baseUrl);
  for (const name of ["latest.json", `${version}.json`]) write(name, description);
}

function write(name: string, content: string | Uint8Array, mode = 0o644): void {
  writeFileSync(join(outdir, name), content, { mode });
}
