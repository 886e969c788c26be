/** Work on many bytes in slices, between which others have their turn: a whole upload would hold the event loop. */

import { pause } from "./pause.ts";

/** A few milliseconds of any work that reads each byte. */
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
  // Without zeros, which would touch all of the memory immediately.
  const joined = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for await (const slice of slicesOf(pieces)) {
    joined.set(slice, at);
    at += slice.length;
  }
  return joined;
}
