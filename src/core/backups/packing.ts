/**
 * The stored form of a backup: compressed with zstd, then encrypted where there is a recipient, and its checksum;
 * within bounded memory.
 */
import { createReadStream, statfsSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline, Readable } from "node:stream";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";
import { AppError } from "../../domain/errors.ts";
import { decryptWithAge, encryptWithAge } from "./age.ts";

const pieceBytes = 256 * 1024;

/** `bytes` is the file's size, which is noted in the stored form. */
export async function packBackup(
  file: string,
  bytes: number,
  recipient: string | null,
): Promise<AsyncIterable<Uint8Array>> {
  const compressed = compress(file, bytes);
  return recipient === null ? compressed : await encryptWithAge(compressed, recipient);
}

async function* compress(file: string, bytes: number): AsyncIterable<Uint8Array> {
  const params = { [constants.ZSTD_c_checksumFlag]: 1 };
  const packed = createZstdCompress({ chunkSize: pieceBytes, params, pledgedSrcSize: bytes });
  // Its errors are those of `packed`, which is read here.
  pipeline(createReadStream(file, { highWaterMark: pieceBytes }), packed, () => {});
  yield* packed;
}

export interface Unpacking {
  /** The stored form. */
  file: string;
  /** Created, for its user alone. */
  target: string;
  /** The text of an identity file, if it is encrypted. */
  identityText: string | null;
}

/** Resolves with the bytes written. Throws `invalid_request` with a sentence that begins with "It". */
export async function unpackBackup({ file, target, identityText }: Unpacking): Promise<number> {
  const stored = readPieces(file);
  const packed = identityText === null ? stored : await decryptWithAge(stored, identityText);
  const output = await open(target, "wx", 0o600);
  try {
    const [head, all] = await peek(packed, zstdHeadBytes);
    const bytes = readContentBytes(head);
    // Before anything is written: what is not ours could unpack to any size.
    requireSpace(target, bytes);
    let written = 0;
    for await (const piece of decompress(all)) {
      written += piece.length;
      if (written > bytes) throw new AppError("invalid_request", "It unpacks to more than it declares.");
      await output.appendFile(piece);
    }
    if (written < bytes) throw new AppError("invalid_request", "It was cut off: it unpacks to less than it declares.");
    await output.sync();
    return bytes;
  } finally {
    await output.close();
  }
}

/** Opened only when it is read: no one would handle the error of a stream without a reader. */
async function* readPieces(file: string): AsyncIterable<Uint8Array> {
  yield* createReadStream(file, { highWaterMark: pieceBytes });
}

async function* decompress(packed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let ownFailure: unknown = null;
  const noted = async function* () {
    try {
      yield* packed;
    } catch (error) {
      ownFailure = error;
      throw error;
    }
  };
  // By default it takes frames with a window of 128 MiB at most.
  const plain = createZstdDecompress({ chunkSize: pieceBytes });
  pipeline(Readable.from(noted(), { objectMode: false }), plain, () => {});
  try {
    yield* plain;
  } catch (error) {
    throw (
      ownFailure ??
      new AppError("invalid_request", "It cannot be decompressed: it was changed or cut off.", { cause: error })
    );
  }
}

const zstdMagic = 0xfd2fb528;
const zstdHeadBytes = 18;

/** The size that RFC 8878, 3.1.1.1 lets a frame declare; ours do. */
function readContentBytes(head: Uint8Array): number {
  const refuse = () => new AppError("invalid_request", "It is not a backup that companiond has packed.");
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (head.length < 6 || view.getUint32(0, true) !== zstdMagic) throw refuse();
  const descriptor = view.getUint8(4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  if (sizeFlag === 0 && !isSingleSegment) throw refuse();
  const at = 5 + (isSingleSegment ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0);
  if (head.length < at + 2 ** sizeFlag) throw refuse();
  if (sizeFlag === 0) return view.getUint8(at);
  if (sizeFlag === 1) return view.getUint16(at, true) + 256;
  if (sizeFlag === 2) return view.getUint32(at, true);
  return Number(view.getBigUint64(at, true));
}

/** The first bytes, and all of it with these. */
async function peek(
  content: AsyncIterable<Uint8Array>,
  bytes: number,
): Promise<[Uint8Array, AsyncIterable<Uint8Array>]> {
  const source = content[Symbol.asyncIterator]();
  let head = new Uint8Array();
  let isDone = false;
  while (head.length < bytes && !isDone) {
    const next = await source.next();
    if (next.done) isDone = true;
    else head = Buffer.concat([head, next.value]);
  }
  const all = async function* () {
    yield head;
    if (!isDone) yield* { [Symbol.asyncIterator]: () => source };
  };
  return [head, all()];
}

const mebibyte = 1024 * 1024;
/** Left for other programs that write there: with less, the server soon refuses to store messages. */
const spareBytes = 64 * mebibyte;

/** Whether a disk has enough space for what is about to be written. Throws `unavailable` with a sentence. */
export function requireSpace(file: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(dirname(file));
  const freeBytes = bavail * bsize;
  if (bytes + spareBytes <= freeBytes) return;
  const [needed, free] = [Math.ceil((bytes + spareBytes) / mebibyte), Math.floor(freeBytes / mebibyte)];
  throw new AppError(
    "unavailable",
    `It needs ${needed} MiB on the disk of the data directory, where ${free} MiB are free. Free some space.`,
  );
}

export interface Sums {
  bytes: number;
  /** Hexadecimal. */
  sha256: string;
}

interface SummedContent {
  content: AsyncIterable<Uint8Array>;
  /** Of what has passed until now; call it once. */
  read(): Sums;
}

export function sumBytes(source: AsyncIterable<Uint8Array>): SummedContent {
  const hasher = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  async function* pass() {
    for await (const piece of source) {
      hasher.update(piece);
      bytes += piece.length;
      yield piece;
    }
  }
  return { content: pass(), read: () => ({ bytes, sha256: hasher.digest("hex") }) };
}

/** As sha256sum writes and checks it. */
export function writeSums(name: string, { sha256 }: Sums): string {
  return `${sha256}  ${name}\n`;
}

/** Null if the text holds no checksum of that name. */
export function findSha256(text: string, name: string): string | null {
  for (const line of text.split("\n")) {
    const [, sha256 = "", named = ""] = /^([0-9a-f]{64}) [ *](.+)$/.exec(line.trim()) ?? [];
    if (named === name) return sha256;
  }
  return null;
}
