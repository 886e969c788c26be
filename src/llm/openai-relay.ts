/** Relays one reply from the body of a provider's response to the sink. */
import type { BodyReader, HttpBody } from "../lib/http/exchange.ts";
import { OpenAiStream } from "./openai-stream.ts";
import type { ReplyOutcome, ReplySink } from "./provider.ts";
import { ProviderFailure } from "./provider-failure.ts";
import type { ReplyWatch } from "./reply-watch.ts";

/** What came of it; who was asked is known to whoever asked. */
export type RelayedReply = Omit<ReplyOutcome, "answeredBy">;

/** How long to wait for the body's end after the reply, to keep the connection; it nearly always ends with `[DONE]`. */
const drainMs = 1_000;

/**
 * Resolves when the reply has ended, or was ended by the watch, which closes the connection at once. Rejects with a
 * `ProviderFailure` if there was no content at all, unless the visitor has left.
 */
export function relayReply(body: HttpBody, sink: ReplySink, watch: ReplyWatch): Promise<RelayedReply> {
  return new Promise((resolve, reject) => {
    const relay = new Relay(body, sink, watch, resolve, reject);
    if (watch.isOver) relay.stop();
    else {
      watch.onOver = () => relay.stop();
      body.read(relay);
    }
  });
}

/** A class rather than closures: there are thousands at once, for minutes, and methods take no memory per instance. */
class Relay implements BodyReader {
  readonly #body: HttpBody;
  readonly #sink: ReplySink;
  readonly #watch: ReplyWatch;
  readonly #resolve: (outcome: RelayedReply) => void;
  readonly #reject: (failure: ProviderFailure) => void;
  readonly #stream = new OpenAiStream();
  /** The outcome is known; the rest is read only to keep the connection. */
  #isOver = false;
  #drainTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    body: HttpBody,
    sink: ReplySink,
    watch: ReplyWatch,
    resolve: (outcome: RelayedReply) => void,
    reject: (failure: ProviderFailure) => void,
  ) {
    this.#body = body;
    this.#sink = sink;
    this.#watch = watch;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  data(parts: readonly string[]): void {
    if (this.#isOver) return;
    this.#watch.noteRead();
    this.#deliver(this.#feed(parts));
    if (!this.#stream.isDone || this.#isOver) return;
    this.#finish(null);
    if (this.#stream.failure !== null) this.#body.cancel();
    else {
      this.#drainTimer = setTimeout(() => this.#body.cancel(), drainMs);
      this.#body.resume();
    }
  }

  end(): void {
    clearTimeout(this.#drainTimer);
    if (this.#isOver) return;
    this.#deliver(this.#stream.end());
    this.#finish(null);
  }

  fail(error: Error): void {
    clearTimeout(this.#drainTimer);
    this.#finish(new ProviderFailure(error.message, { kind: "broken_off", isTransient: true }));
  }

  /** The visitor has left, or a deadline has passed. */
  stop(): void {
    this.#body.cancel();
    this.#finish(this.#watch.expired);
  }

  /** All texts of one read, which leave in one write. */
  #feed(parts: readonly string[]): string[] {
    const deltas = this.#stream.feed(parts[0] ?? "");
    for (let index = 1; index < parts.length; index++) {
      for (const delta of this.#stream.feed(parts[index] ?? "")) deltas.push(delta);
    }
    return deltas;
  }

  #deliver(deltas: string[]): void {
    if (deltas.length > 0) {
      this.#watch.noteText();
      const keptUp = this.#sink.emit({ type: "text", deltas });
      if (keptUp !== undefined && !this.#isOver) {
        this.#body.pause();
        this.#watch.pause();
        const resume = () => this.#resume();
        keptUp.then(resume, resume);
      }
    }
    if (this.#stream.finishReason !== null && !this.#isOver) this.#watch.noteFinish();
  }

  #resume(): void {
    if (this.#isOver) return;
    this.#watch.resume();
    this.#body.resume();
  }

  #finish(reason: ProviderFailure | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { hasContent, finishReason, hasDoneMark, usage, failure, endsInHalf } = this.#stream;
    if (this.#watch.hasLeft) {
      this.#resolve({ complete: false, usage, finishReason, failure: null, endsInHalf });
      return;
    }
    const isComplete = hasContent && (finishReason !== null || hasDoneMark);
    if (isComplete) {
      this.#resolve({ complete: true, usage, finishReason, failure: null, endsInHalf });
      return;
    }
    const cause =
      failure ??
      reason ??
      new ProviderFailure(describeEnd(this.#stream), { kind: hasContent ? "broken_off" : "empty" });
    if (hasContent) this.#resolve({ complete: false, usage, finishReason, failure: cause, endsInHalf });
    else this.#reject(cause);
  }
}

function describeEnd({ hasContent, finishReason }: OpenAiStream): string {
  if (hasContent) return "the stream ended without a finish_reason or [DONE]";
  return finishReason === null
    ? "the stream ended without any text"
    : `the reply is empty (finish_reason ${finishReason})`;
}
