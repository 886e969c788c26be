/** Reads a request's body as it arrives. A sender that sends it byte by byte delays no one else. */
import { AppError } from "../domain/errors.ts";

/** Large bodies arrive in larger pieces, except for the last. */
const smallPieceBytes = 4096;

/**
 * The pieces of the body, none if there is no body. Throws `invalid_request` if it takes longer than `limitMs`, unless
 * that is null. Not `arrayBuffer()`, which collects everything before its size can be refused.
 */
export async function* readPieces(request: Request, limitMs: number | null): AsyncGenerator<Uint8Array> {
  if (request.body === null) return;
  const reader = request.body.getReader();
  let isLate = false;
  // The listener's idle timeout does not catch a body that arrives slowly but steadily.
  const expire = () => {
    isLate = true;
    void reader.cancel().catch(() => {});
  };
  const timer = limitMs === null ? undefined : setTimeout(expire, limitMs);
  try {
    for (;;) {
      const { done, value }: { done: boolean; value?: Uint8Array } = await reader.read();
      if (isLate)
        throw new AppError("invalid_request", `The body did not arrive within ${(limitMs ?? 0) / 1000} seconds.`);
      if (done || value === undefined) return;
      yield value;
      // One-byte chunks would all be read in one go, a million a second, and block everything else. After a pause, what
      // has arrived meanwhile is one piece.
      if (value.length < smallPieceBytes) await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    clearTimeout(timer);
    void reader.cancel().catch(() => {});
  }
}
