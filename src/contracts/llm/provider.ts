/**
 * A language-model provider that streams one reply.
 *
 * Push instead of an async iterator: a promise and a generator step per delta cost several times the relay itself.
 * One engine per file; `app/llm.ts` picks it; `test/contracts/llm-provider.ts` checks it.
 */
import { type HistoryMessage, textOf } from "../../domain/conversation.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { ReasoningEffort } from "../../domain/reasoning.ts";
import { type FailureKind, findFailureKind } from "../../domain/reply-failure.ts";
import type { AskedCall, OfferedTool, ToolRound } from "../../domain/tool.ts";
import type { Answerer, ChargedCall } from "../../domain/usage.ts";
import type { StopSignal } from "../../lib/stop-signal.ts";

export interface ReplyRequest {
  /** The companion's instruction text, or null for none. */
  systemPrompt: string | null;
  /**
   * Earlier turns, oldest first, starting with a user's; the last entry is the visitor's new message. A platform that
   * keeps the conversation itself may send others, or none.
   */
  messages: readonly HistoryMessage[];
  model: string;
  /** Sent only if set. */
  temperature: number | null;
  /** How long the model thinks; null leaves it to the operator's setting. The model may know fewer, or none. */
  reasoningEffort: ReasoningEffort | null;
  /**
   * Upper limit in tokens of what a visitor may see; always sent, since the operator pays. For a model that thinks, room
   * for that is added.
   */
  maxOutputTokens: number;
  /** Texts before which the reply ends. */
  stop?: readonly string[];
  /**
   * The reply is to be JSON of this form; left out: it is free. A model that does not know such forms is asked without it,
   * so the text may be anything.
   */
  form?: ReplyForm;
  /** Whose companion asks: failures that one account alone runs into are not held against a provider. */
  accountId: string;
  /** For the log: identifies the provider's failures. */
  requestId: string;
  /** What the model may call; left out: nothing. */
  tools?: readonly OfferedTool[];
  /** The model's earlier answers in this turn, which follow `messages`, oldest first; left out: none. */
  rounds?: readonly ToolRound[];
  /** Asks this one alone: the provider of the first round answers those that follow. Left out: the model's whole chain. */
  answerer?: Answerer;
  /** Asked before every call of a provider but the first; without it all are made. */
  gate?: CallGate;
}

/** What a reply is to be as JSON. */
export interface ReplyForm {
  /** For the provider: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** JSON Schema of an object that has all of its members and no others. */
  readonly schema: JsonObject;
}

/** Decides on further calls for one reply: retries, the next entry of a chain, and the one extra call after a refusal. */
export interface CallGate {
  /**
   * Resolves with false if the next call would cost more than budgets leave: the reply then ends with what the call
   * before came to. Rejects with the public error if no call may begin any more, at any cost. Where the reply was
   * stopped meanwhile, it resolves with true, and the signal has fired.
   */
  permit(next: NextCall): Promise<boolean>;
}

/** Upper limit of a call's output. */
export interface AnswererBound {
  readonly answerer: Answerer;
  /** The bound that is sent, with the room for thinking. */
  readonly maxOutputTokens: number;
}

export interface NextCall extends AnswererBound {
  /** The call before, which is over and will be reported nowhere else, if its provider may charge for it; null if not. */
  readonly before: ChargedCall | null;
}

/**
 * The part of a reply that one read from the provider brought. Every event is *content*, and the first one begins the
 * reply. A reply without any is empty, no matter what else the provider sent, unless it ends with calls of tools: these
 * are in its outcome, since nothing may be called before the whole of it has come. So far there is only text; other
 * content that readers see immediately (a source) should become an event of its own here, not something beside the
 * stream.
 */
export type ReplyEvent = TextEvent;

/**
 * Text deltas, as many as arrived together: never an empty array, never an empty text. Well-formed Unicode without NUL.
 */
export interface TextEvent {
  readonly type: "text";
  readonly deltas: readonly string[];
}

/** Where the reply goes. */
export interface ReplySink {
  /**
   * Takes the next event. Returns undefined while the reader keeps up; otherwise a promise, and the provider stops
   * reading (back-pressure reaches its socket) until that resolves; what it has read still comes. Must not throw.
   */
  emit(event: ReplyEvent): Promise<unknown> | undefined;
}

/** How a reply ended that had begun, or was stopped before it began. */
export interface ReplyOutcome extends ChargedCall {
  /** True if the provider marked it so: a `finish_reason` other than `error`, or its own `[DONE]` after some content. */
  complete: boolean;
  /** Of one that was stopped before its first event, who was being asked. */
  readonly answeredBy: Answerer;
  /** Whether a whole reply was cut off before its provider could count: at a stop text that only we know. Not unless given. */
  wasCut?: boolean;
  /** Why the model stopped, in the provider's words (`stop`, `length`); null if it did not send it. */
  finishReason: string | null;
  /** Why the reply is not complete; private, for the log. Null if complete or stopped by the signal. */
  failure: unknown;
  /**
   * The tools that the model asked for, in its order; left out or empty: none. Only of a reply that is complete: what a
   * reply that broke had asked for is not to be called. At most 32, with 64 KiB of arguments each; a reply with more fails.
   * Arguments may be no JSON, unless the model's bound cut them off: then the call is left out.
   */
  calls?: readonly AskedCall[];
  /** What the engine wants back with the results of `calls`; see `ToolRound`. */
  carry?: unknown;
  /** Whether the text ended with the first half of a surrogate pair, which was not passed on. */
  endsInHalf?: boolean;
}

/** What becomes of each call of a provider, for metrics and for operators. Must not throw. */
export interface CallObserver {
  ended(answerer: Answerer, outcome: ReplyOutcome): void;
  failed(answerer: Answerer, failure: unknown): void;
}

/** All that a request has in words, from any author: for estimates, and to be kept out of logs. */
export function textsOf({ systemPrompt, messages, tools, rounds }: ReplyRequest): string[] {
  const texts = messages.map(textOf);
  if (systemPrompt !== null) texts.push(systemPrompt);
  for (const { name, description, parameters } of tools ?? [])
    texts.push(name, description, JSON.stringify(parameters));
  for (const { text, calls } of rounds ?? []) {
    texts.push(text);
    for (const { name, arguments: args, result } of calls) texts.push(name, args, result);
  }
  return texts;
}

/** The kind of failure that an incomplete reply counts as; null if it is complete or was stopped by the signal. */
export function kindOfOutcome({ complete, failure }: Pick<ReplyOutcome, "complete" | "failure">): FailureKind | null {
  return complete || failure === null ? null : (findFailureKind(failure) ?? "provider_error");
}

export interface LlmProvider {
  /** Under which usage counts what it answers: `default`, `demo`, or a name that the operator chose. */
  readonly name: string;
  /**
   * Streams one reply into the sink and resolves when it has ended, however it ended after its first event.
   *
   * - Before the first event, a failure (refused, 4xx, 5xx, not an event stream, malformed, an error object, an end
   *   without content, 60 s without content) rejects with `AppError("upstream_error")`: public sentence, private cause.
   *   Connection errors, 429 and 5xx are retried twice with back-off before that, all within the same 60 s; a
   *   `Retry-After` is respected up to 5 s, since a visitor is waiting. Nothing is retried, and no other provider asked,
   *   after the first event or once a call of a tool has begun to come, which is progress as thoughts are: where the reply
   *   then breaks without text, it rejects.
   * - After the first event it never rejects: a break, an error object or 60 s of silence resolve with
   *   `complete: false` and the cause in `failure`. A reply of over 10 minutes is ended the same way.
   * - `signal` ends it immediately, at any point: the provider's connection is closed, `emit` is not called again, and
   *   the call resolves with `complete: false, failure: null`, even before the first event.
   */
  streamReply(request: ReplyRequest, sink: ReplySink, signal: StopSignal): Promise<ReplyOutcome>;
  /**
   * Who may answer for a model that companions may choose, in the order in which they are asked; never empty. The
   * `answeredBy` of its replies is always one of them, so a bound on what a reply costs is that of the dearest.
   */
  listAnswerers(model: string): readonly Answerer[];
  /**
   * The same answerers, each with the bound that its first call for this request would send: what is reserved for it.
   * Further calls name theirs to the gate.
   */
  listBounds(request: ReplyRequest): readonly AnswererBound[];
  /** Closes idle connections. Callers abort running replies. */
  close(): void;
}
