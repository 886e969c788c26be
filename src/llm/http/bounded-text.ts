/** A body that is worth reading only for what it begins with: an error's, as a rule, which may be a page, or endless. */
import type { HttpBody } from "./exchange.ts";

/** Enough for an error's message. */
const maxBytes = 64 * 1024;

/** As much as there is of it when it ends, breaks, grows too long or the signal fires; the connection is given up. */
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
