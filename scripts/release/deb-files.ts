/** What a package contains beside the executable, where Debian expects it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { guideFiles, hrefOf, sampleFiles } from "../guide-files.ts";
import { toDebVersion } from "./deb.ts";
import type { TarFile } from "./tar.ts";

const root = join(import.meta.dir, "../..");

/** What the release build has made for the release itself. */
export interface ReleaseTexts {
  manPage: string;
  completions: Readonly<Record<"bash" | "zsh" | "fish", string>>;
  notices: string;
  sbom: string;
}

export interface PackageFacts {
  version: string;
  maintainer: string;
  builtAt: Date;
}

export function debFiles(texts: ReleaseTexts, facts: PackageFacts): TarFile[] {
  const doc = "usr/share/doc/companiond";
  return [
    // Short, so that it stays the same: dpkg would ask whoever edited it with every version that changes it.
    { path: "etc/companiond/companiond.env", mode: 0o600, content: read("deploy/debian/env-file") },
    { path: "usr/lib/systemd/system/companiond.service", mode: 0o644, content: writeUnit() },
    { path: "usr/share/man/man1/companiond.1.gz", mode: 0o644, content: zip(texts.manPage) },
    { path: "usr/share/bash-completion/completions/companiond", mode: 0o644, content: texts.completions.bash },
    { path: "usr/share/zsh/vendor-completions/_companiond", mode: 0o644, content: texts.completions.zsh },
    { path: "usr/share/fish/vendor_completions.d/companiond.fish", mode: 0o644, content: texts.completions.fish },
    { path: `${doc}/companiond.env.example`, mode: 0o644, content: read(".env.example") },
    { path: `${doc}/copyright`, mode: 0o644, content: writeCopyright() },
    { path: `${doc}/THIRD-PARTY-NOTICES.txt.gz`, mode: 0o644, content: zip(texts.notices) },
    { path: `${doc}/sbom.cdx.json`, mode: 0o644, content: texts.sbom },
    { path: `${doc}/CHANGELOG.md.gz`, mode: 0o644, content: zip(read("CHANGELOG.md")) },
    ...listGuides().map(({ path, content }) => ({ path: `${doc}/${path}`, mode: 0o644, content })),
    { path: `${doc}/changelog.gz`, mode: 0o644, content: zip(writeChangelog(facts)) },
  ];
}

/** By Debian's policy (12.3) small texts are as they are, others compressed; samples are for use, and so never. */
const smallTextBytes = 4096;

/** The guides as Markdown, and what they link to, in the folders of the repository, so that their links hold. */
function listGuides(): { path: string; content: string | Uint8Array }[] {
  const samples = Object.values(sampleFiles).flat();
  // The changelog has its place.
  const guides = guideFiles
    .map(({ path }) => path)
    .filter((path) => path !== "CHANGELOG.md" && !samples.includes(path));
  return [
    ...samples.map((path) => ({ path, content: path.endsWith(".md") ? readGuide(path) : read(path) })),
    ...guides.map((path) => {
      const text = readGuide(path);
      const isSmall = Buffer.byteLength(text) <= smallTextBytes;
      return isSmall ? { path, content: text } : { path: `${path}.gz`, content: zip(text) };
    }),
  ];
}

/** Without links to what is not in the package. */
function readGuide(path: string): string {
  return read(path).replace(/\[([^\]]+)\]\((?!\w+:|#)([^)\s]+)\)/g, (link, words: string, target: string) =>
    hrefOf(path, target) === null ? words : link.replace("/.env.example)", "/companiond.env.example)"),
  );
}

export function debScripts(): Record<string, string> {
  return Object.fromEntries(["postinst", "prerm", "postrm"].map((name) => [name, read(`deploy/debian/${name}`)]));
}

/** The unit for installations by hand, but for the place of the executable and how to get there. */
function writeUnit(): string {
  const unit = read("deploy/companiond.service");
  const body = unit.slice(unit.indexOf("[Unit]")).replaceAll("/usr/local/bin/companiond", "/usr/bin/companiond");
  return `# companiond as a system service. For changes: systemctl edit companiond\n\n${body}`;
}

function writeCopyright(): string {
  const terms = read("LICENSE")
    .trim()
    .split("\n")
    .map((line) => (line.trim() === "" ? " ." : ` ${line}`));
  const [, holder = ""] = /^Copyright \(c\) (.+)$/m.exec(read("LICENSE")) ?? [];
  return [
    "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/",
    "Upstream-Name: companiond",
    "Comment: The software of others in the executable, and its terms, are in THIRD-PARTY-NOTICES.txt.gz beside this",
    " file.",
    "",
    "Files: *",
    `Copyright: ${holder}`,
    "License: Expat",
    ...terms,
    "",
  ].join("\n");
}

/** Debian's own form; what has changed is in the project's changelog. */
function writeChangelog({ version, maintainer, builtAt }: PackageFacts): string {
  const date = builtAt.toUTCString().replace("GMT", "+0000");
  return [
    `companiond (${toDebVersion(version)}) stable; urgency=medium`,
    "",
    "  * What has changed is in CHANGELOG.md.gz, beside this file.",
    "",
    ` -- ${maintainer}  ${date}`,
    "",
  ].join("\n");
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** Without a time or a name in it. */
function zip(text: string): Uint8Array {
  return Bun.gzipSync(Buffer.from(text), { level: 9 });
}
