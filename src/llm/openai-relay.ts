/** Carries one reply from the body of a provider's response into the sink. */
import type { HttpBody } from "./http/exchange.ts";
import { OpenAiStream } from "./openai-stream.ts";
import type { ReplyOutcome, ReplySink } from "./provider.ts";
import { ProviderFailure } from "./provider-failure.ts";
import type { ReplyWatch } from "./reply-watch.ts";

/** After the reply's end the connection is worth waiting this long for; the body nearly always ends with `[DONE]`. */
const drainMs = 1_000;

/**
 * Resolves when the reply has ended. Rejects with a `ProviderFailure` if there was no text at all, unless stopped
 * by the visitor leaving. `stop` closes the connection at once; its reason is a `ProviderFailure` if a deadline
 * has passed, anything else means that the visitor left.
 */
export function relayReply(
  body: HttpBody,
  sink: ReplySink,
  watch: ReplyWatch,
  stop: AbortSignal,
): Promise<ReplyOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<ReplyOutcome>();
  const stream = new OpenAiStream();
  let isOver = false;
  let hasEnded = false;
  let drainTimer: ReturnType<typeof setTimeout> | undefined;

  function finish(reason: ProviderFailure | null): void {
    if (isOver) return;
    isOver = true;
    stop.removeEventListener("abort", onStop);
    const hasLeft = stop.aborted && reason === null;
    const { usage } = stream;
    const isComplete = stream.hasText && (stream.finishReason !== null || stream.hasDoneMark);
    const failure = stream.failure ?? reason ?? new ProviderFailure(describeEnd(stream));
    if (hasLeft) resolve({ complete: false, usage, failure: null });
    else if (!stream.hasText) reject(failure);
    else resolve({ complete: isComplete, usage, failure: isComplete ? null : failure });
  }

  function onStop(): void {
    body.cancel();
    finish(stop.reason instanceof ProviderFailure ? stop.reason : null);
  }

  function deliver(deltas: string[]): void {
    if (deltas.length > 0) {
      watch.noteText();
      const keptUp = sink.write(deltas);
      if (keptUp !== undefined && !isOver) {
        body.pause();
        watch.pause();
        keptUp.then(resume, resume);
      }
    }
    if (stream.finishReason !== null) watch.noteFinish();
  }

  function resume(): void {
    if (isOver) return;
    watch.resume();
    body.resume();
  }

  /** Reads on to the body's end, so that its connection can carry the next request. */
  function drain(): void {
    if (stream.failure !== null) {
      body.cancel();
      return;
    }
    drainTimer = setTimeout(() => body.cancel(), drainMs);
    body.resume();
  }

  if (stop.aborted) {
    onStop();
    return promise;
  }
  stop.addEventListener("abort", onStop, { once: true });
  body.read({
    data(bytes) {
      if (isOver) return;
      watch.noteRead();
      deliver(stream.feed(bytes));
      if (!stream.isDone || isOver) return;
      finish(null);
      if (!hasEnded) drain();
    },
    end() {
      hasEnded = true;
      clearTimeout(drainTimer);
      if (isOver) return;
      deliver(stream.end());
      finish(null);
    },
    fail(error) {
      hasEnded = true;
      clearTimeout(drainTimer);
      finish(new ProviderFailure(error.message, { isTransient: true }));
    },
  });
  return promise;
}

function describeEnd(stream: OpenAiStream): string {
  if (stream.hasText) return "the stream ended without a finish_reason or [DONE]";
  return stream.finishReason === null
    ? "the stream ended without any text"
    : `the reply is empty (finish_reason ${stream.finishReason})`;
}
