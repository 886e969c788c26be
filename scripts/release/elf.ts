/** What an executable of Linux needs of the machine, read from its ELF tables. */

const sectionTypes = { dynamic: 6, versionNeeds: 0x6ffffffe };
/** The tag of a library's name in the dynamic section. */
const needed = 1n;

export interface ElfNeeds {
  /** As in the ELF header: 62 is x86-64, 183 is AArch64. */
  machine: number;
  /** File names of the libraries that the loader looks for. */
  libraries: string[];
  /** The newest version of glibc that a symbol asks for, such as `2.17`; null without one. */
  glibc: string | null;
}

/** Of a little-endian 64-bit file; throws for anything else. */
export function readElfNeeds(file: Uint8Array): ElfNeeds {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (bytes.toString("latin1", 0, 6) !== "\x7fELF\x02\x01") throw new Error("This is no 64-bit ELF file.");
  const sections = readSections(bytes);
  const libraries: string[] = [];
  const versions: string[] = [];
  for (const section of sections) {
    const names = sections[section.link];
    if (names === undefined) continue;
    const nameAt = (at: number) => bytes.toString("latin1", names.start + at, bytes.indexOf(0, names.start + at));
    if (section.type === sectionTypes.dynamic) {
      for (let at = section.start; at < section.end; at += 16) {
        if (bytes.readBigInt64LE(at) === needed) libraries.push(nameAt(Number(bytes.readBigInt64LE(at + 8))));
      }
    }
    if (section.type === sectionTypes.versionNeeds) versions.push(...readVersions(bytes, section.start, nameAt));
  }
  const glibc = versions.flatMap((name) => /^GLIBC_(\d+(?:\.\d+)+)$/.exec(name)?.[1] ?? []);
  return { machine: bytes.readUInt16LE(18), libraries, glibc: glibc.sort(compareVersions).at(-1) ?? null };
}

interface Section {
  type: number;
  /** The section with its strings. */
  link: number;
  start: number;
  end: number;
}

function readSections(bytes: Buffer): Section[] {
  const table = Number(bytes.readBigUInt64LE(40));
  const [size, count] = [bytes.readUInt16LE(58), bytes.readUInt16LE(60)];
  return Array.from({ length: count }, (_, index) => {
    const at = table + index * size;
    const start = Number(bytes.readBigUInt64LE(at + 24));
    const end = start + Number(bytes.readBigUInt64LE(at + 32));
    return { type: bytes.readUInt32LE(at + 4), link: bytes.readUInt32LE(at + 40), start, end };
  });
}

/** A list of libraries, each with a list of versions; offsets are relative, and 0 ends a list. */
function readVersions(bytes: Buffer, start: number, nameAt: (at: number) => string): string[] {
  const found: string[] = [];
  for (let library = start, next = -1; next !== 0; library += next) {
    for (let version = library + bytes.readUInt32LE(library + 8), step = -1; step !== 0; version += step) {
      found.push(nameAt(bytes.readUInt32LE(version + 8)));
      step = bytes.readUInt32LE(version + 12);
    }
    next = bytes.readUInt32LE(library + 12);
  }
  return found;
}

function compareVersions(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}
