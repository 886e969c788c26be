/** One streamed reply: from the provider into a visitor's stream, collected on the way, with the status held back. */
import { estimateTokens, textOf } from "../domain/conversation.ts";
import { AppError } from "../domain/errors.ts";
import type { FailureKind } from "../domain/reply-failure.ts";
import type { StreamErrorCode } from "../domain/stream-end.ts";
import type { TokenUsage } from "../domain/usage.ts";
import { GatheredText } from "../lib/gathered-text.ts";
import type { Log } from "../lib/log.ts";
import type { LlmProvider, ReplyOutcome, ReplyRequest } from "../llm/provider.ts";
import type { OpenReply } from "./open-reply.ts";
import { kindOfOutcome } from "./reply-failure-kind.ts";
import { replyMemory } from "./reply-memory.ts";

/** The visitor's side, as far as a reply needs it; `http/sse.ts` has the bytes. */
export interface ReplyStream {
  /** `whole`: the deltas as one text. */
  write(deltas: readonly string[], whole: string): Promise<void> | undefined;
  /** Of what was written, not taken by the reader yet. */
  readonly heldUnits: number;
  dropHeld(): void;
  ping(): void;
  done(): void;
  fail(code: StreamErrorCode): void;
  drop(): void;
}

export interface CollectedReply {
  text: string;
  outcome: ReplyOutcome;
  /** Of a reply that the provider broke off, or did not bring to an end: an error in usage. */
  failureKind: FailureKind | null;
  usage: TokenUsage;
  /** Milliseconds from the call to the first text; null where none came. */
  firstTextMs: number | null;
}

export interface ReplyRun {
  /**
   * Resolves when the response may begin: first text, end of the reply, or `pingAfterMs` of waiting. Rejects before that
   * with the provider's failure, or with the error of whoever ended the reply.
   */
  opened: Promise<void>;
  /** Whether it resolved: from then on nobody but the stream is told of a failure. */
  readonly isOpen: boolean;
  /** Resolves with the whole reply; rejects as `streamReply` does, before the first text. */
  finished: Promise<CollectedReply>;
}

/** After this long without text the response begins with a comment: a 502 is no longer possible, but nobody gives up waiting. */
export const pingAfterMs = 10_000;

/** Of a reply's text, in UTF-16 code units: many times what models say, so that whoever never comes to an end is ended. */
export const maxReplyUnits = 1024 * 1024;

export function runReply(llm: LlmProvider, request: ReplyRequest, stream: ReplyStream, reply: OpenReply): ReplyRun {
  const startedMs = performance.now();
  const opening = Promise.withResolvers<void>();
  const text = new GatheredText();
  let firstTextMs: number | null = null;
  let isOpen = false;
  /** Of the memory that long replies share. */
  let shareBytes = 0;
  const pingTimer = setTimeout(() => {
    stream.ping();
    open();
  }, pingAfterMs);

  function open(): void {
    clearTimeout(pingTimer);
    isOpen = true;
    opening.resolve();
  }

  function refuse(error: AppError): void {
    clearTimeout(pingTimer);
    opening.reject(error);
  }

  /** The last of an endless reply: as much as there is room for. */
  function writeLast(whole: string): void {
    const last = whole.slice(0, maxReplyUnits - text.units).toWellFormed();
    text.add(last);
    if (last !== "") stream.write([last], last);
    reply.end("too_long", new AppError("upstream_error", `The reply is longer than ${maxReplyUnits} characters.`));
  }

  /** Takes memory for what is held by now; without room for it the reply is over. */
  function hold(): void {
    // Two bytes a character at most.
    const taken = replyMemory.take(shareBytes, 2 * (text.units + stream.heldUnits));
    if (taken === 0) return;
    if (taken === null) {
      stream.dropHeld();
      reply.end("unavailable", new AppError("unavailable", "Too much is held for long replies and slow readers."));
      return;
    }
    if (shareBytes === 0) reply.owes(() => replyMemory.giveBack(shareBytes));
    shareBytes += taken;
  }

  const sink = {
    write(deltas: readonly string[]) {
      if (firstTextMs === null) {
        firstTextMs = performance.now() - startedMs;
        open();
      }
      const whole = deltas.length === 1 ? (deltas[0] ?? "") : deltas.join("");
      if (text.units + whole.length > maxReplyUnits) {
        writeLast(whole);
        return undefined;
      }
      text.add(whole);
      const stalled = stream.write(deltas, whole);
      hold();
      return stalled;
    },
  };

  const finished = llm.streamReply(request, sink, reply.signal).then(
    (outcome) => {
      if (reply.ending !== null && !isOpen) refuse(reply.ending.error);
      else open();
      // A pair of surrogates may have been cut by the break: the stored text must be well-formed.
      const whole = text.toString().toWellFormed();
      const isEndless = reply.ending?.code === "too_long";
      const failureKind = isEndless ? "broken_off" : kindOfOutcome(outcome);
      return { text: whole, outcome, failureKind, usage: countTokens(request, whole, outcome), firstTextMs };
    },
    (failure: unknown) => {
      const error =
        failure instanceof AppError
          ? failure
          : new AppError("upstream_error", "The language model could not answer. Try again in a moment.", {
              cause: failure,
            });
      refuse(error);
      throw error;
    },
  );
  // The caller awaits `opened` first; a rejection meanwhile is not unhandled, it is waited for later.
  opening.promise.catch(() => {});
  finished.catch(() => {});
  return {
    opened: opening.promise,
    finished,
    get isOpen() {
      return isOpen;
    },
  };
}

/** Ends the stream of a reply that has been kept or counted: whole, with the reason in a comment, or without a word. */
export function endStream(
  log: Log,
  { stream, reply, requestId }: { stream: ReplyStream; reply: OpenReply; requestId: string },
  companionId: string,
  { complete, failure }: ReplyOutcome,
): void {
  if (complete) stream.done();
  else if (reply.ending !== null) {
    log.info("reply ended early", { requestId, companionId, error: reply.ending.error });
    stream.fail(reply.ending.code);
  } else if (failure === null) stream.drop();
  else {
    log.warn("reply broke off", { requestId, companionId, error: failure });
    stream.fail("upstream_error");
  }
}

function countTokens(request: ReplyRequest, text: string, outcome: ReplyOutcome): TokenUsage {
  if (outcome.usage) return { ...outcome.usage, estimated: false };
  let inputTokens = request.systemPrompt === null ? 0 : estimateTokens(request.systemPrompt);
  for (const message of request.messages) inputTokens += estimateTokens(textOf(message));
  return { inputTokens, outputTokens: estimateTokens(text), estimated: true };
}
