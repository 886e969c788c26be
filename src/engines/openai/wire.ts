/**
 * What the two APIs of OpenAI's have of their own: how a request is put, and how an event of the stream is read. What
 * both share (refusals, efforts, bounds, retries, deadlines, hidden thoughts, stop texts) is not a wire's matter.
 */
import type { ReplyForm, ReplyRequest } from "../../contracts/llm/provider.ts";
import type { JsonObject } from "../../domain/companion.ts";
import type { ReasoningEffort } from "../../domain/reasoning.ts";
import type { FailureKind } from "../../domain/reply-failure.ts";
import type { AskedCall, OfferedTool, ToolRound } from "../../domain/tool.ts";
import type { CountedTokens } from "../../domain/usage.ts";

export interface Wire {
  readonly name: "chat" | "responses";
  /** Below the base URL. */
  readonly path: "/chat/completions" | "/responses";
  /** The JSON body, the operator's own members merged over it. */
  buildBody(request: ReplyRequest, plan: CallPlan): JsonObject;
  /**
   * For one response; events may depend on those before them. `round`: which of the turn's requests with tools it is,
   * from 1; left out for a request without tools, in whose reply calls are ignored.
   */
  createReader(round?: number): EventReader;
}

/** What one call asks for: the wishes of companion and operator, as far as the model is not known to refuse them. */
export interface CallPlan {
  /** Null: none is sent. */
  readonly effort: ReasoningEffort | null;
  /** Null: none is sent. */
  readonly temperature: number | null;
  /** As it is sent: what a visitor may see, and the room for thinking. */
  readonly maxOutputTokens: number;
  /** Sent to the provider; empty where there are none, or where we carry them out. */
  readonly stop: readonly string[];
  /** Of chats only; the Responses API has one name. */
  readonly boundName: "max_tokens" | "max_completion_tokens";
  /** Whether the provider is asked to count (chats), or to leave padding out (Responses). */
  readonly sendsStreamOptions: boolean;
  /** Whether `store: false` is sent. */
  readonly sendsStore: boolean;
  /** How a chat begins: `user` puts the instructions before the first message of the user's. */
  readonly systemRole: "system" | "developer" | "user";
  /** Templates of some open models want a question and an answer in turn. */
  readonly joinsRoles: boolean;
  /** What the model is offered; empty for nothing, also where it takes none. */
  readonly tools: readonly OfferedTool[];
  /** Of the Responses API: whether thoughts are asked for that can be sent back with the results of calls. */
  readonly sendsInclude: boolean;
  /** The turn's earlier rounds; what is carried along is this provider's own, or null. */
  readonly rounds: readonly SentRound[];
  /** Whether the rounds are sent as text, since the model takes no calls. */
  readonly flattensRounds: boolean;
  /** Which JSON the reply is to be; null: the reply is free. */
  readonly form: ReplyForm | null;
  /** The operator's, merged over everything but the bound, which it can only lower. */
  readonly extra: JsonObject;
}

export interface SentRound extends ToolRound {
  readonly carry: JsonObject | null;
}

export interface EventReader {
  /** Of a request with tools: what the model asks for. */
  readonly asked?: AskedReader | undefined;
  /** How long a line of this stream may be, in bytes; 1 MiB unless given. */
  readonly maxLineBytes?: number;
  /** Whether `[DONE]` means nothing; otherwise it ends the reply. */
  readonly ignoresDoneMark?: boolean;
  /**
   * Whether an event may be dropped unread: judged by the name of its `event:` line or "", and by how its data begin
   * (64 bytes or more). Asked of long lines only, so that none is kept that repeats what is known; no unless given.
   */
  skips?(eventName: string, lineStart: string): boolean;
  /**
   * Interprets one event: its parsed data, and the name of its `event:` line or "". Null for JSON that is no object.
   * Also takes a whole document, which is what a server sends that ignores `stream: true`.
   */
  read(value: unknown, eventName: string): EventReading | null;
}

/** The calls of one response, put together from its events. */
export interface AskedReader {
  /** Of names and arguments so far, in UTF-8. */
  readonly bytes: number;
  /** Why no more of it is accepted; null while it is within its bounds. */
  readonly excess: string | null;
  /** At the end. `isCut`: the model was not done, so what is not whole is left out. */
  finish(isCut: boolean): AskedAnswer;
}

export interface AskedAnswer {
  readonly calls: readonly AskedCall[];
  /** What the provider wants back with their results; null for nothing. */
  readonly carry: JsonObject | null;
}

/** What one event carries; most carry one thing only. */
export interface EventReading {
  /** What a visitor reads; may be empty. */
  readonly text: string;
  /** Bytes of thoughts in UTF-8, or 1 where the model is known to think without showing it; 0 for none. */
  readonly reasoningBytes: number;
  /** Why the reply ended: `stop`, `length`, `content_filter` or the provider's own word; null until then. */
  readonly finishReason: string | null;
  readonly usage: CountedTokens | null;
  /** What the provider reports instead of a reply, or of its rest. */
  readonly error: EventError | null;
  /** Whether nothing follows: an end mark other than `[DONE]`. */
  readonly isLast: boolean;
}

export interface EventError {
  /** Private. */
  readonly message: string;
  /** The HTTP status that it stands for; null if it is not known. */
  readonly status: number | null;
  /** Where the status alone does not decide. */
  readonly kind?: FailureKind;
}
