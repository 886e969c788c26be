/** Files in a zip archive, unpacked within bounds: what an archive says of its own sizes is not believed. */
import { inflateRawSync } from "node:zlib";
import { codeOf } from "../../../lib/error-code.ts";
import { ReadingFailure } from "./failure.ts";

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

export interface Archive {
  has(name: string): boolean;
  /** Fails if there is none. */
  read(name: string): Buffer;
}

export function openArchive(bytes: Uint8Array): Archive {
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
