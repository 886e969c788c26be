/** Archives in the ustar form: everything is root's, and the same files at the same time make the same bytes. */

export interface TarFile {
  /** Without a slash in front, at most 100 characters. */
  path: string;
  mode: number;
  content: Uint8Array | string;
}

const blockBytes = 512;

/** `folders` gives those that are not 0755, or have no file, by path. */
export function writeTar(
  files: readonly TarFile[],
  at: Date,
  { prefix = "", folders = {} }: { prefix?: string; folders?: Readonly<Record<string, number>> } = {},
): Uint8Array {
  const paths = new Set([...files.map(({ path }) => path).flatMap(foldersOf), ...Object.keys(folders)]);
  const entries = [
    ...[...paths].map((path) => ({ path: `${path}/`, mode: folders[path] ?? 0o755, content: null })),
    ...files.map((file) => ({ ...file, content: Buffer.from(file.content) })),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
  const root = prefix === "" ? [] : [writeHeader(prefix, 0o755, null, at)];
  const parts = entries.flatMap(({ path, mode, content }) => [
    writeHeader(prefix + path, mode, content, at),
    ...(content === null ? [] : [content, Buffer.alloc(-content.length & (blockBytes - 1))]),
  ]);
  return Buffer.concat([...root, ...parts, Buffer.alloc(2 * blockBytes)]);
}

/** `usr/share/doc` is in `usr/share` and in `usr`. */
function foldersOf(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

function writeHeader(path: string, mode: number, content: Uint8Array | null, at: Date): Uint8Array {
  const header = Buffer.alloc(blockBytes);
  if (header.write(path, 0, "utf8") > 100) throw new Error(`${path} is too long a name for this archive.`);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  header.write(octal(mode, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(content?.length ?? 0, 11), 124);
  header.write(octal(Math.floor(at.getTime() / 1000), 11), 136);
  // The checksum counts its own field as blanks.
  header.write(" ".repeat(8), 148);
  header.write(content === null ? "5" : "0", 156);
  header.write("ustar\x0000", 257, "latin1");
  header.write("root", 265);
  header.write("root", 297);
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, "0")}\0 `,
    148,
  );
  return header;
}
