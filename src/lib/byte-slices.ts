/** Work on many bytes in slices, between which others have their turn: a whole upload would hold the event loop. */

import { pause } from "./pause.ts";

/** A few milliseconds of any work that looks at each byte. */
const sliceBytes = 1024 * 1024;

async function* slicesOf(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += sliceBytes) {
      const slice = piece.subarray(from, from + sliceBytes);
      yield slice;
      bytes += slice.length;
      if (bytes < sliceBytes) continue;
      bytes = 0;
      await pause();
    }
  }
}

/** SHA-256 in hex. */
export async function digestInSlices(pieces: readonly Uint8Array[]): Promise<string> {
  const digest = new Bun.SHA256();
  for await (const slice of slicesOf(pieces)) digest.update(slice);
  return digest.digest("hex");
}

export async function joinInSlices(pieces: readonly Uint8Array[]): Promise<Uint8Array> {
  // Without zeros, which would touch all of the memory at once.
  const joined = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for await (const slice of slicesOf(pieces)) {
    joined.set(slice, at);
    at += slice.length;
  }
  return joined;
}

/** Throws a TypeError if it is not UTF-8. Without a byte-order mark. */
export async function decodeInSlices(pieces: readonly Uint8Array[]): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for await (const slice of slicesOf(pieces)) text += decoder.decode(slice, { stream: true });
  return text + decoder.decode();
}

/** As UTF-8. The text must be well-formed. */
export async function encodeInSlices(text: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (let from = 0; from < text.length; ) {
    let end = Math.min(text.length, from + sliceBytes);
    // Between the halves of a pair, each would become a replacement character.
    if (end < text.length && text.charCodeAt(end) >= 0xdc00 && text.charCodeAt(end) <= 0xdfff) end--;
    parts.push(Buffer.from(text.slice(from, end)));
    from = end;
    if (from < text.length) await pause();
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}
