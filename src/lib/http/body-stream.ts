/** A response's body as bytes to iterate over, at the reader's pace. */
import type { HttpBody } from "./exchange.ts";

/** To be iterated over once, or closed: until then the connection is open. */
export interface BodyStream extends AsyncIterable<Uint8Array> {
  /** Closes the connection; who waits for more is at the end. Harmless after the end. */
  close(): void;
}

/**
 * Holds at most what one read of the socket gave: more is read when that is consumed. Iterating rejects with the error
 * that broke the body, after what came before, or the signal's reason, immediately. Leaving the loop closes the
 * connection.
 */
export function streamBody(body: HttpBody, signal: AbortSignal): BodyStream {
  let held: Buffer[] = [];
  let ending: { readonly error: unknown } | null = null;
  let wake = () => {};

  function end(error: unknown): void {
    ending ??= { error };
    signal.removeEventListener("abort", stop);
    wake();
  }
  function leave(error: unknown): void {
    body.cancel();
    held = [];
    end(error);
  }
  function stop(): void {
    leave(signal.reason);
  }

  async function* iterate(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        if (held.length > 0) yield Buffer.concat(held.splice(0));
        else if (ending === null) {
          const { promise, resolve } = Promise.withResolvers<void>();
          wake = resolve;
          body.resume();
          await promise;
        } else if (ending.error === null) return;
        else throw ending.error;
      }
    } finally {
      leave(null);
    }
  }

  if (signal.aborted) stop();
  else {
    signal.addEventListener("abort", stop, { once: true });
    body.read({
      data(part) {
        held.push(Buffer.from(part, "latin1"));
        body.pause();
        wake();
      },
      end: () => end(null),
      fail: end,
    });
  }
  return { [Symbol.asyncIterator]: iterate, close: () => leave(null) };
}
