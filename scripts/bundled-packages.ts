/** The packages whose code is in the executable, as the bundler reports them, with their licences. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { generatedFolder } from "./build-web.ts";
import { leaveOutUnused } from "./left-out.ts";

const root = join(import.meta.dir, "..");

/** Packages without a licence file of their own get the standard text of the licence that they declare. */
const apacheLicence = join(root, "node_modules/@opentelemetry/api/LICENSE");
const standardTexts: Readonly<Record<string, string>> = { "Apache-2.0": apacheLicence };

/** What comes in as data: the bundler sees neither a style sheet that a plugin made nor a file that we generated. */
const packagesInData = ["tailwindcss", "@zxcvbn-ts/language-common"];

/** Packages that others have compiled into a file of their own, where the bundler cannot see them; all under the Apache licence. */
const packagesInside = [
  { host: "unpdf", file: "dist/pdfjs.mjs", name: "pdfjs-dist", version: /apiVersion:`([\d.]+)`/ },
];

export interface PackageManifest {
  name: string;
  version: string;
  license?: string;
  dependencies?: Record<string, string>;
  [field: string]: unknown;
}

export interface BundledPackage {
  manifest: PackageManifest;
  /** Contents of the licence and notice files; never empty. */
  licenceTexts: string[];
}

/** Sorted by name. Rejects where a package has no licence text, and where the browser bundles are not built. */
export async function findBundledPackages(): Promise<BundledPackage[]> {
  const list = join(generatedFolder, "packages.json");
  if (!existsSync(list)) throw new Error("Build the browser bundles first: bun scripts/build.ts --web-only");
  const browserFiles: string[] = JSON.parse(readFileSync(list, "utf8"));
  const plugins = [leaveOutUnused];
  const entrypoints = [join(root, "src/main.ts")];
  const { metafile } = await Bun.build({ entrypoints, plugins, target: "bun", metafile: true });
  const files = [...Object.keys(metafile?.inputs ?? {}), ...browserFiles];
  return describePackages([
    ...files.map((file) => join(root, file)),
    ...packagesInData.map((name) => join(root, "node_modules", name, "package.json")),
  ]);
}

/**
 * `files` are absolute; those outside of `node_modules` belong to no package. A version that lies in several folders is
 * one package.
 */
export function describePackages(files: readonly string[]): BundledPackage[] {
  const filesByFolder = Map.groupBy(files.filter(isOfPackage), packageFolderOf);
  const found = new Map<string, BundledPackage>();
  for (const [folder, own] of filesByFolder) {
    const one = describePackage(folder, own);
    for (const each of [one, ...describeInside(one.manifest.name, folder)]) {
      found.set(`${each.manifest.name}@${each.manifest.version}`, each);
    }
  }
  return [...found.values()].sort((a, b) => a.manifest.name.localeCompare(b.manifest.name, "en"));
}

function describePackage(folder: string, files: readonly string[]): BundledPackage {
  const manifest: PackageManifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  // Vendored code keeps its licence beside it, in a folder below the package's own.
  const licenceFiles = [...new Set(files.flatMap((file) => foldersUpTo(folder, file)))].flatMap(licenceFilesIn);
  const standardText = standardTexts[manifest.license ?? ""];
  if (licenceFiles.length === 0 && standardText !== undefined) licenceFiles.push(standardText);
  const licenceTexts = licenceFiles.map((file) => readFileSync(file, "utf8").trim());
  if (licenceTexts.length === 0) licenceTexts.push(...findLicenceInReadme(folder));
  if (licenceTexts.length === 0) {
    throw new Error(`${manifest.name} is in the executable and has no licence text (declared: ${manifest.license}).`);
  }
  return { manifest, licenceTexts };
}

function describeInside(host: string, folder: string): BundledPackage[] {
  return packagesInside.flatMap(({ file, name, version: pattern, ...one }) => {
    if (one.host !== host) return [];
    const [, version] = pattern.exec(readFileSync(join(folder, file), "utf8")) ?? [];
    if (version === undefined) throw new Error(`${file} of ${host} does not say which ${name} is in it.`);
    const manifest = { name, version, license: "Apache-2.0" };
    return [{ manifest, licenceTexts: [readFileSync(apacheLicence, "utf8").trim()] }];
  });
}

/** Some small packages have it as the last section there; a mere name of a licence is no text of it. */
function findLicenceInReadme(folder: string): string[] {
  const [readme] = readdirSync(folder).filter((name) => /^readme(?:\.md)?$/i.test(name));
  if (readme === undefined) return [];
  const section =
    /^#+ *licen[cs]e\b.*\n([\s\S]*)$/im.exec(readFileSync(join(folder, readme), "utf8"))?.[1]?.trim() ?? "";
  return section.length > 500 ? [section] : [];
}

function isOfPackage(file: string): boolean {
  return file.includes("/node_modules/");
}

/** The innermost package: a dependency may have its own version of another. */
function packageFolderOf(file: string): string {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? "";
}

function foldersUpTo(top: string, file: string): string[] {
  const folders: string[] = [];
  for (let folder = dirname(file); folder.length >= top.length; folder = dirname(folder)) folders.push(folder);
  return folders.reverse();
}

function licenceFilesIn(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => /^(?:licen[cs]e|copying|notice)(?:[.-]|$)/i.test(name));
  return names.sort().map((name) => join(folder, name));
}
