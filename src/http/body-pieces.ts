/** A request's body as it comes. Whoever sends it byte by byte keeps nobody else waiting. */
import { AppError } from "../domain/errors.ts";

/** What comes in large pieces has none as small, but for the last. */
const smallPieceBytes = 4096;

/**
 * The pieces of the body, none where there is no body; throws `invalid_request` where it takes longer than `limitMs`, if
 * that is given. Not `arrayBuffer()`, which gathers everything before anybody can say that it is too much.
 */
export async function* readPieces(request: Request, limitMs: number | null): AsyncGenerator<Uint8Array> {
  if (request.body === null) return;
  const reader = request.body.getReader();
  let isLate = false;
  // The listener's idle limit does not see a body that comes slowly but steadily.
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
      // Chunks of one byte would be read in one go, a million a second, and nothing else would run. What comes meanwhile
      // becomes one piece.
      if (value.length < smallPieceBytes) await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    clearTimeout(timer);
    void reader.cancel().catch(() => {});
  }
}
