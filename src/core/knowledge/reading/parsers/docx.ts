/** Word documents: their headings, lists and tables, via HTML. */
import { inflateRawSync } from "node:zlib";
import mammoth from "mammoth";
import type { ParsedDocument } from "../../../../domain/knowledge.ts";
import { codeOf } from "../../../../lib/error-code.ts";
import { ReadingFailure } from "../failure.ts";
import { cleanTitle } from "../plain-text.ts";
import { markdownOfHtml } from "./html.ts";

const styleMap = ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => h2:fresh"];

export async function readDocx(bytes: Uint8Array): Promise<ParsedDocument> {
  const start = Buffer.from(bytes.subarray(0, 4)).toString("hex");
  // An OLE file: an encrypted package, if it passed for a Word document at all.
  if (start === "d0cf11e0") throw new ReadingFailure("password");
  if (start !== "504b0304") throw new ReadingFailure("format");
  const archive = openArchive(bytes);
  const file = {
    exists: archive.has,
    async read(name: string, encoding?: string) {
      const content = archive.read(name);
      if (encoding === undefined) return content;
      return encoding === "base64" ? content.toString("base64") : new TextDecoder().decode(content);
    },
  };
  try {
    // The library accepts an opened archive instead of bytes, which its types do not show; its own knows no bounds.
    const { value } = await mammoth.convertToHtml({ file } as never, { styleMap, convertImage: withoutPicture });
    const title = archive.has("docProps/core.xml") ? findTitle(archive.read("docProps/core.xml").toString()) : null;
    return { title: cleanTitle(title), pages: [{ number: null, markdown: markdownOfHtml(value) }] };
  } catch (error) {
    throw error instanceof ReadingFailure ? error : new ReadingFailure("broken");
  }
}

/** Its words for those who cannot see it are added by the library. */
const withoutPicture = mammoth.images.imgElement(async () => ({ src: "" }));

function findTitle(xml: string): string | null {
  const text = /<dc:title>([^<]{1,1000})<\/dc:title>/.exec(xml)?.[1] ?? null;
  const names: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
  return text?.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => names[name] ?? "") ?? null;
}

interface Entry {
  /** Stored or deflated; other methods are not read. */
  method: number;
  isEncrypted: boolean;
  packedBytes: number;
  /** As declared. */
  bytes: number;
  /** Where its local header stands. */
  at: number;
}

const maxEntries = 10_000;
/** Of all files that are read, together. */
const maxUnpackedBytes = 64 * 1024 * 1024;

interface Archive {
  has(name: string): boolean;
  /** Fails if there is none. */
  read(name: string): Buffer;
}

/** Files in a zip archive, unpacked within bounds: the sizes that an archive declares are not trusted. */
function openArchive(bytes: Uint8Array): Archive {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = readDirectory(file);
  let leftBytes = maxUnpackedBytes;
  return {
    has: (name) => entries.has(name),
    read(name) {
      const entry = entries.get(name);
      if (entry === undefined) throw new ReadingFailure("broken");
      if (entry.isEncrypted) throw new ReadingFailure("password");
      if (entry.bytes > leftBytes) throw new ReadingFailure("bomb");
      const content = unpack(file, entry, leftBytes);
      leftBytes -= content.length;
      return content;
    },
  };
}

function readDirectory(file: Buffer): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  // The end record stands at the end, before a comment of at most 64 KiB.
  const end = file.lastIndexOf(Buffer.from("PK\x05\x06"));
  if (end === -1 || end < file.length - 66_000 || end + 22 > file.length) throw new ReadingFailure("broken");
  const count = file.readUInt16LE(end + 10);
  if (count > maxEntries) throw new ReadingFailure("bomb");
  let at = file.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    if (at + 46 > file.length || file.readUInt32LE(at) !== 0x02014b50) throw new ReadingFailure("broken");
    const nameLength = file.readUInt16LE(at + 28);
    const name = file.toString("utf8", at + 46, at + 46 + nameLength).replaceAll("\\", "/");
    entries.set(name, {
      method: file.readUInt16LE(at + 10),
      isEncrypted: (file.readUInt16LE(at + 8) & 1) === 1,
      packedBytes: file.readUInt32LE(at + 20),
      bytes: file.readUInt32LE(at + 24),
      at: file.readUInt32LE(at + 42),
    });
    at += 46 + nameLength + file.readUInt16LE(at + 30) + file.readUInt16LE(at + 32);
  }
  return entries;
}

function unpack(file: Buffer, { at, packedBytes, method }: Entry, maxOutputLength: number): Buffer {
  if (at + 30 > file.length) throw new ReadingFailure("broken");
  const start = at + 30 + file.readUInt16LE(at + 26) + file.readUInt16LE(at + 28);
  const packed = file.subarray(start, start + packedBytes);
  if (packed.length < packedBytes) throw new ReadingFailure("broken");
  if (method === 0) return packed;
  if (method !== 8) throw new ReadingFailure("broken");
  try {
    return inflateRawSync(packed, { maxOutputLength });
  } catch (error) {
    const isTooLarge = codeOf(error) === "ERR_BUFFER_TOO_LARGE";
    throw new ReadingFailure(isTooLarge ? "bomb" : "broken");
  }
}
