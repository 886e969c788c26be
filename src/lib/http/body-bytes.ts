/** Reads a whole body into memory, within bounds. */
import type { HttpBody } from "./exchange.ts";

/**
 * The body up to `maxBytes`; `isCut` if it goes on after them. Rejects with the error that broke it, or the signal's
 * reason. However it ends, the connection is closed.
 */
export function readBody(
  body: HttpBody,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ bytes: Buffer; isCut: boolean }> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const leave = () => {
      signal.removeEventListener("abort", stop);
      body.cancel();
    };
    const stop = () => {
      leave();
      reject(signal.reason);
    };
    const finish = (isCut: boolean) => {
      leave();
      resolve({ bytes: Buffer.concat(pieces, Math.min(length, maxBytes)), isCut });
    };
    if (signal.aborted) {
      stop();
      return;
    }
    signal.addEventListener("abort", stop, { once: true });
    body.read({
      data(part) {
        const piece = Buffer.from(part, "latin1");
        pieces.push(piece);
        length += piece.length;
        if (length > maxBytes) finish(true);
      },
      end: () => finish(false),
      fail(error) {
        leave();
        reject(error);
      },
    });
  });
}
