/** Debian packages, written without Debian's tools, so that every machine makes the same bytes. */
import { readElfNeeds } from "./elf.ts";
import { type TarFile, writeTar } from "./tar.ts";

/** By Debian's name: the target of the executable in it, and what its ELF header says. */
export const debArchitectures = {
  amd64: { target: "linux-x64", machine: 62 },
  arm64: { target: "linux-arm64", machine: 183 },
} as const;
export type DebArchitecture = keyof typeof debArchitectures;

/** All that `libc6` provides of what an executable may be linked with. */
const glibcLibraries = /^(?:lib(?:c|m|dl|rt|pthread)\.so\.\d+|ld-linux-.*\.so\.\d+)$/;

export type CompressionLevel = NonNullable<Bun.ZlibCompressionOptions["level"]>;

export interface DebOptions {
  version: string;
  architecture: DebArchitecture;
  /** `Name <address>`. */
  maintainer: string;
  executable: Uint8Array;
  /** All but the executable. Those under `etc` are the operator's to change. */
  files: readonly TarFile[];
  /** `postinst` and the like. */
  scripts: Readonly<Record<string, string>>;
  builtAt: Date;
  /** Of gzip: an eighth larger than zstd, but every tool for packages reads it. */
  compressionLevel: CompressionLevel;
}

export function debFileName(version: string, architecture: DebArchitecture): string {
  return `companiond_${toDebVersion(version)}_${architecture}.deb`;
}

/** A tilde sorts before the release that a version leads to. */
export function toDebVersion(version: string): string {
  return version.replace("-", "~");
}

export function writeDeb(options: DebOptions): Uint8Array {
  const { executable, scripts, builtAt } = options;
  const files = [...options.files, { path: "usr/bin/companiond", mode: 0o755, content: executable }];
  const control: TarFile[] = [
    { path: "control", mode: 0o644, content: writeControl(options, files) },
    { path: "md5sums", mode: 0o644, content: writeSums(files) },
    { path: "conffiles", mode: 0o644, content: conffilesOf(files).join("") },
    ...Object.entries(scripts).map(([path, content]) => ({ path, mode: 0o755, content })),
  ];
  const data = writeTar(files, builtAt, { prefix: "./" });
  return writeArchive(
    {
      "debian-binary": Buffer.from("2.0\n"),
      "control.tar.gz": Bun.gzipSync(Buffer.from(writeTar(control, builtAt, { prefix: "./" }))),
      "data.tar.gz": Bun.gzipSync(Buffer.from(data), { level: options.compressionLevel }),
    },
    builtAt,
  );
}

function writeControl(options: DebOptions, files: readonly TarFile[]): string {
  const bytes = files.reduce((sum, { content }) => sum + Math.ceil(Buffer.byteLength(content) / 1024), 0);
  return [
    "Package: companiond",
    `Version: ${toDebVersion(options.version)}`,
    `Architecture: ${options.architecture}`,
    `Maintainer: ${options.maintainer}`,
    `Installed-Size: ${bytes}`,
    `Depends: ${dependenciesOf(options)}`,
    "Recommends: ca-certificates",
    "Section: web",
    "Priority: optional",
    "Description: server for conversational companions",
    " One executable that hosts conversational companions: streamed text chat and",
    " voice sessions for websites, a management API for platforms, and a dashboard",
    " for site owners. It keeps its data in an embedded database, or in PostgreSQL.",
    "",
  ].join("\n");
}

/** Throws where the executable is another architecture's, or needs a library that the package would not name. */
function dependenciesOf({ executable, architecture }: DebOptions): string {
  const { machine, libraries, glibc } = readElfNeeds(executable);
  if (machine !== debArchitectures[architecture].machine) throw new Error(`The executable is not ${architecture}'s.`);
  const others = libraries.filter((name) => !glibcLibraries.test(name));
  if (others.length > 0) throw new Error(`The executable needs ${others.join(", ")}, which the package does not name.`);
  if (glibc === null) throw new Error("The executable does not say which glibc it needs.");
  // The second is for the maintainer scripts, which create the user.
  return `libc6 (>= ${glibc}), passwd`;
}

function conffilesOf(files: readonly TarFile[]): string[] {
  return files.filter(({ path }) => path.startsWith("etc/")).map(({ path }) => `/${path}\n`);
}

function writeSums(files: readonly TarFile[]): string {
  const own = files.filter(({ path }) => !path.startsWith("etc/"));
  return own.map(({ path, content }) => `${new Bun.MD5().update(content).digest("hex")}  ${path}\n`).join("");
}

/** The `ar` form: a line for each member, and every member at an even offset. */
function writeArchive(members: Readonly<Record<string, Uint8Array>>, at: Date): Uint8Array {
  const seconds = String(Math.floor(at.getTime() / 1000));
  const parts = Object.entries(members).flatMap(([name, content]) => {
    const fields = [name.padEnd(16), seconds.padEnd(12), "0".padEnd(6), "0".padEnd(6), "100644".padEnd(8)];
    const header = `${fields.join("")}${String(content.length).padEnd(10)}\`\n`;
    return [Buffer.from(header), content, Buffer.from(content.length % 2 === 0 ? "" : "\n")];
  });
  return Buffer.concat([Buffer.from("!<arch>\n"), ...parts]);
}
