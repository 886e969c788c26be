/** What is sent to S3, as a stream that ends in an error when nothing of it has been taken for too long. */
import { lateFailure } from "./s3-failures.ts";

export interface WatchedContent {
  stream: ReadableStream<Uint8Array>;
  /** Rejects, never resolves. */
  failed: Promise<never>;
  /** Why the stream ended in an error; null if it did not. */
  findReason(): unknown;
  /** Nothing more is taken, and nothing watched. */
  end(): void;
}

export function watchContent(
  content: AsyncIterable<Uint8Array>,
  idleMs: number,
  signal: AbortSignal | undefined,
): WatchedContent {
  const failed = Promise.withResolvers<never>();
  // It may be nobody's any more.
  failed.promise.catch(() => {});
  const source = content[Symbol.asyncIterator]();
  let reason: unknown = null;
  let idle: Timer | undefined;
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  const fail = (error: unknown) => {
    if (reason !== null) return;
    reason = error;
    controller?.error(error);
    failed.reject(error);
  };
  const onAbort = () => fail(signal?.reason);
  const noteProgress = () => {
    clearTimeout(idle);
    idle = setTimeout(() => fail(lateFailure(idleMs)), idleMs);
  };
  const stream = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
    async pull(given) {
      noteProgress();
      try {
        const { done, value } = await source.next();
        if (reason !== null) return;
        if (done) given.close();
        else given.enqueue(value);
      } catch (error) {
        fail(error);
      }
    },
  });
  noteProgress();
  signal?.addEventListener("abort", onAbort);
  if (signal?.aborted) onAbort();
  return {
    stream,
    failed: failed.promise,
    findReason: () => reason,
    end() {
      clearTimeout(idle);
      signal?.removeEventListener("abort", onAbort);
      // Not waited for: a source that is being read returns only after that.
      void source.return?.().catch(() => {});
    },
  };
}
