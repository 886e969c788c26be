/** Reads only the start of a body: usually an error, which may be a page, or endless. */
import type { HttpBody } from "./exchange.ts";

/** Enough for an error message. */
const maxBytes = 64 * 1024;

/** The text up to its end, a break, the size limit or the signal; the connection is then closed. */
export function readBounded(body: HttpBody, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    let bytes = "";
    const finish = () => {
      signal.removeEventListener("abort", finish);
      body.cancel();
      resolve(Buffer.from(bytes.slice(0, maxBytes), "latin1").toString("utf8"));
    };
    if (signal.aborted) {
      finish();
      return;
    }
    signal.addEventListener("abort", finish, { once: true });
    body.read({
      data(parts) {
        bytes += parts.join("");
        if (bytes.length >= maxBytes) finish();
      },
      end: finish,
      fail: finish,
    });
  });
}
