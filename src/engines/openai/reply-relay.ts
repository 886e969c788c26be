/** Relays one reply from the body of a provider's response to the sink. */
import type { ReplyOutcome, ReplySink } from "../../contracts/llm/provider.ts";
import { ProviderFailure } from "../../contracts/llm/provider-failure.ts";
import type { Answerer } from "../../domain/usage.ts";
import type { BodyReader, HttpBody } from "../../lib/http/exchange.ts";
import type { NextReplyCall, ReplyCalls } from "./calls.ts";
import type { ReplyStream } from "./reply-stream.ts";
import type { ReplyWatch, WatchedStep } from "./reply-watch.ts";

export interface RelayedCall {
  readonly answeredBy: Answerer;
  /** As in `ReplyOutcome`. */
  readonly sentOutputTokens: number;
  readonly body: HttpBody;
  /** Unused so far. */
  readonly stream: ReplyStream;
  /** Whether the request names texts before which the reply ends, which may leave nothing of it. */
  readonly hasStops: boolean;
  /** Notified once, with the first event, or the first part of a call: the provider accepts the request. */
  readonly calls: Pick<ReplyCalls, "noteAccepted">;
  readonly call: NextReplyCall;
}

/** How long to wait for the body's end after the reply, to keep the connection; it nearly always ends with `[DONE]`. */
const drainMs = 1_000;

/**
 * Resolves when the reply has ended, or was ended by the watch, which closes the connection immediately. Rejects with a
 * `ProviderFailure` if there was no content at all, unless the visitor has left.
 */
export function relayReply(call: RelayedCall, sink: ReplySink, watch: ReplyWatch): Promise<ReplyOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<ReplyOutcome>();
  const relay = new Relay(call, sink, watch, resolve, reject);
  if (watch.isOver) relay.stop();
  else {
    watch.step = relay;
    call.body.read(relay);
  }
  return promise;
}

/** A class, not closures: thousands live at the same time, for minutes, and methods take no memory per instance. */
class Relay implements BodyReader, WatchedStep {
  readonly #call: RelayedCall;
  readonly #body: HttpBody;
  readonly #sink: ReplySink;
  readonly #watch: ReplyWatch;
  readonly #resolve: (outcome: ReplyOutcome) => void;
  readonly #reject: (failure: ProviderFailure) => void;
  readonly #stream: ReplyStream;
  #wordlessBytes = 0;
  #isAccepted = false;
  /** The visitor does not keep up. */
  #isPaused = false;
  /** The outcome is known; the rest is read only to keep the connection. */
  #isOver = false;
  #drainTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    call: RelayedCall,
    sink: ReplySink,
    watch: ReplyWatch,
    resolve: (outcome: ReplyOutcome) => void,
    reject: (failure: ProviderFailure) => void,
  ) {
    this.#call = call;
    this.#body = call.body;
    this.#stream = call.stream;
    this.#sink = sink;
    this.#watch = watch;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  data(part: string): void {
    if (this.#isOver) return;
    this.#watch.noteRead();
    const deltas = this.#stream.feed(part);
    if (this.#stream.isDone) deltas.push(...this.#stream.release());
    this.#deliver(deltas);
    if (!this.#stream.isDone || this.#isOver) return;
    this.#finish(null);
    if (this.#stream.failure !== null || this.#stream.isStopped) this.#body.cancel();
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

  #deliver(deltas: string[]): void {
    const askedBytes = this.#stream.reader.asked?.bytes ?? 0;
    if (this.#stream.reasoningBytes + askedBytes > this.#wordlessBytes) {
      this.#wordlessBytes = this.#stream.reasoningBytes + askedBytes;
      this.#watch.noteReasoning();
    }
    if (!this.#isAccepted && (askedBytes > 0 || deltas.length > 0)) {
      this.#isAccepted = true;
      this.#call.calls.noteAccepted(this.#call.call);
    }
    if (deltas.length > 0) {
      this.#watch.noteText();
      const keptUp = this.#sink.emit({ type: "text", deltas });
      if (keptUp !== undefined && !this.#isPaused && !this.#isOver) {
        this.#isPaused = true;
        this.#body.pause();
        this.#watch.pause();
        const resume = () => this.#resume();
        keptUp.then(resume, resume);
      }
    }
    const { finishReason, isDone } = this.#stream;
    if (finishReason === null || isDone || this.#isOver) return;
    if (askedBytes > 0) this.#watch.noteText();
    this.#watch.noteFinish();
  }

  #resume(): void {
    this.#isPaused = false;
    if (this.#isOver) return;
    this.#watch.resume();
    this.#body.resume();
  }

  #finish(reason: ProviderFailure | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { finishReason, usage, failure, reasoningBytes } = this.#stream;
    const outcome: ReplyOutcome = {
      complete: false,
      usage,
      reasoningBytes,
      callBytes: this.#stream.reader.asked?.bytes ?? 0,
      sentOutputTokens: this.#call.sentOutputTokens,
      wasCut: this.#stream.isStopped,
      answeredBy: this.#call.answeredBy,
      finishReason,
      failure: null,
      endsInHalf: this.#stream.endsInHalf,
    };
    if (this.#watch.hasLeft) {
      // Others who leave at the same moment have their provider stopped first; only then is it stored that this one left.
      setImmediate(this.#resolve, outcome);
      return;
    }
    const rest = this.#stream.release();
    if (rest.length > 0 && !this.#isPaused) this.#sink.emit({ type: "text", deltas: rest });
    const hasAsked = (outcome.callBytes ?? 0) > 0;
    const hasContent = this.#takeCalls(outcome) || this.#stream.hasContent;
    if (hasContent && isEnded(this.#stream) && (failure === null || !hasAsked)) {
      outcome.complete = true;
      this.#resolve(outcome);
      return;
    }
    const cause = failure ?? reason ?? describeEnd(this.#stream, this.#call);
    outcome.failure = cause;
    if (this.#stream.hasContent) this.#resolve(outcome);
    else this.#reject(hasAsked ? cause.with({ hasAsked }) : cause);
  }

  /** Only of a reply that has ended well: nothing is called from one that broke. Returns whether there are any. */
  #takeCalls(outcome: ReplyOutcome): boolean {
    const { reader, failure, finishReason, isStopped } = this.#stream;
    if (reader.asked === undefined || failure !== null || !isEnded(this.#stream)) return false;
    const isDone = finishReason === null || done.test(finishReason);
    const { calls, carry } = reader.asked.finish(!isDone || isStopped);
    if (calls.length === 0) return false;
    // Some send `stop`, and the Responses API sends `completed`.
    if (isDone) outcome.finishReason = "tool_calls";
    outcome.calls = calls;
    outcome.carry = carry;
    return true;
  }
}

function isEnded({ finishReason, hasDoneMark }: ReplyStream): boolean {
  return finishReason !== null || hasDoneMark;
}

function describeEnd(stream: ReplyStream, { hasStops }: RelayedCall): ProviderFailure {
  if (stream.hasContent) {
    return new ProviderFailure("the stream ended without a finish_reason or [DONE]", { kind: "broken_off" });
  }
  const { finishReason, hasDoneMark, usage, reasoningBytes } = stream;
  const reason = finishReason ?? (hasDoneMark ? "stop" : "");
  const kind = outOfRoom.test(reason) ? "no_room" : filtered.test(reason) ? "filtered" : "empty";
  // A model that has worked, and then reported completion, has done as it was asked.
  const hasWorked = reasoningBytes > 0 || (usage?.outputTokens ?? 0) > 0;
  const isByRequest = kind !== "empty" || (done.test(reason) && (hasWorked || (hasStops && finishReason !== null)));
  const message =
    finishReason === null ? "the stream ended without any text" : `the reply is empty (finish_reason ${finishReason})`;
  return new ProviderFailure(message, { kind, isByRequest });
}

/** Some vendors pass on the words of their own models. */
const outOfRoom = /^(length|max_tokens|max_output_tokens|model_length)$/i;
const filtered = /^(content_filter|safety|recitation|blocklist|prohibited_content|spii|sensitive|refusal)$/i;
const done = /^(stop|tool_calls|function_call)$/i;
