/** Reads only the start of a body: usually an error, which may be a page, or endless. */
import type { StopSignal } from "../stop-signal.ts";
import type { HttpBody } from "./exchange.ts";

/** Enough for an error message. */
const maxBytes = 64 * 1024;

/** The text up to its end, a break, the size limit or the signal; the connection is then closed. */
export function readBounded(body: HttpBody, signal: StopSignal): Promise<string> {
  return new Promise((resolve) => {
    let bytes = "";
    const listener = { handleEvent: finish };
    function finish(): void {
      signal.removeEventListener("abort", listener);
      body.cancel();
      resolve(Buffer.from(bytes.slice(0, maxBytes), "latin1").toString("utf8"));
    }
    if (signal.aborted) {
      finish();
      return;
    }
    signal.addEventListener("abort", listener);
    body.read({
      data(part) {
        bytes += part;
        if (bytes.length >= maxBytes) finish();
      },
      end: finish,
      fail: finish,
    });
  });
}
