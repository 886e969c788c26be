/** Undoes what hosts compress, up to a size: a few kilobytes may stand for gigabytes. */
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { failFetching } from "./failure.ts";

/** The value of `Accept-Encoding`. */
export const acceptedCodings = "gzip, br";

export interface BoundedBytes {
  readonly bytes: Buffer;
  /** Whether there is more than was read. */
  readonly isCut: boolean;
}

/** `coding` is the value of `Content-Encoding`. Throws a `FetchingFailure` if it is another, or the data is damaged. */
export async function decompress(
  given: BoundedBytes,
  coding: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<BoundedBytes> {
  const name = coding.trim().toLowerCase();
  if (name === "" || name === "identity") return given;
  if (name === "br") return await run(createBrotliDecompress(), given, maxBytes, signal);
  if (name === "gzip" || name === "x-gzip") return await run(createGunzip(), given, maxBytes, signal);
  throw failFetching("coding");
}

/** Whether these are the first bytes of a gzip file. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

async function run(
  stream: ReturnType<typeof createGunzip> | ReturnType<typeof createBrotliDecompress>,
  { bytes, isCut }: BoundedBytes,
  maxBytes: number,
  signal: AbortSignal,
): Promise<BoundedBytes> {
  const { promise, resolve, reject } = Promise.withResolvers<BoundedBytes>();
  const pieces: Buffer[] = [];
  let length = 0;
  const finish = (isMore: boolean) => {
    resolve({ bytes: Buffer.concat(pieces, Math.min(length, maxBytes)), isCut: isMore || isCut });
  };
  const stop = () => reject(signal.reason);
  stream.on("data", (piece: Buffer) => {
    pieces.push(piece);
    length += piece.length;
    if (length <= maxBytes) return;
    finish(true);
    stream.destroy();
  });
  stream.on("end", () => finish(false));
  stream.on("error", () => {
    // What was cut off before is not complete either.
    if (isCut && length > 0) finish(true);
    else reject(failFetching("coding"));
  });
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  else stream.end(bytes);
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", stop);
    stream.destroy();
  }
}
