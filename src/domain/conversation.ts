/** Conversations: the stored thread of one visitor with one companion. */
import type { Handoff, Person } from "./handoff.ts";

export type MessageRole = "user" | "assistant";
export type MessageChannel = "text" | "voice";

/** Why a model stopped, of what owners can act on. */
export const finishReasons = ["stop", "length", "content_filter"] as const;
export type FinishReason = (typeof finishReasons)[number];

/** Null for any other word of a provider. */
export function toFinishReason(word: string | null): FinishReason | null {
  return finishReasons.find((known) => known === word) ?? null;
}

/** What identifies a conversation: the same session with another visitor, or with none, is another one. */
export interface ConversationKey {
  companionId: string;
  /** Lower case. */
  sessionId: string;
  /**
   * Who the visitor is: a UUID in lower case that the client made up, or a verified visitor's id (`domain/visitor.ts`),
   * which no client can send. Null is a value of its own, never a wildcard.
   */
  visitorId: string | null;
}

export interface Conversation extends ConversationKey {
  id: string;
  /** The latest token's claims of a verified visitor, sealed; null for others. */
  sealedVisitor: string | null;
  messageCount: number;
  createdAt: number;
  updatedAt: number;
  /** What is kept of people who stepped in; null or left out: plain talk. Filled where owners read it. */
  handoff?: Handoff | null;
}

/**
 * A piece of a message; the order of the pieces counts. Only text today. `tool_call`, `tool_result`, `source` and `file`
 * join by their `type`: a reader of parts passes over the types it does not know, and takes the words by `textOf`.
 */
export type MessagePart = { readonly type: "text"; readonly text: string };

/** One earlier message as the model reads it. */
export interface HistoryMessage {
  role: MessageRole;
  /** At least one. */
  parts: readonly MessagePart[];
  /** Of a person's message: their name, null for one who has none. Left out for visitors and companions. */
  readonly author?: string | null;
}

export interface Message extends HistoryMessage {
  id: string;
  channel: MessageChannel;
  /** False for a reply that was cut off: by the provider, or by the visitor leaving. */
  complete: boolean;
  inputTokens: number | null;
  outputTokens: number | null;
  /** True where the provider sent no usage and the figures are ours. */
  tokensEstimated: boolean;
  /** Why the model stopped; null for messages that no model wrote, and where it gave none. */
  finishReason: FinishReason | null;
  /** Who replied, as in `Answerer`; null for visitors' messages and spoken ones. */
  model: string | null;
  provider: string | null;
  /** Who of the team wrote it; null or left out: the visitor or the companion. Filled where owners and visitors read it. */
  person?: Person | null;
  /** Of the companion that replied, by its version; null or left out for other messages, and where it is not known. */
  companionVersion?: number | null;
  createdAt: number;
}

/** For a message whose tokens are not counted: a visitor's, or a spoken one. */
export const uncounted = {
  inputTokens: null,
  outputTokens: null,
  tokensEstimated: false,
  finishReason: null,
  model: null,
  provider: null,
  companionVersion: null,
} as const;

/** How often a message that has reached a provider, and has no reply, runs again without counting again. */
export const freeRepeats = 3;

/** The parts of a message that is nothing but text. */
export function textParts(text: string): readonly MessagePart[] {
  return [{ type: "text", text }];
}

/** The words of a message, without anything else that it holds. */
export function textOf({ parts }: Pick<HistoryMessage, "parts">): string {
  let text = "";
  for (const part of parts) if (part.type === "text") text += part.text;
  return text;
}

/** UTF-8 bytes / 4, rounded up: the estimate used wherever no provider counted. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text, "utf8") / 4);
}

/**
 * The earlier messages that fit the budget: newest kept, in order, beginning with a user's.
 * `newestFirst` may hold more than fits.
 */
export function selectHistory(newestFirst: Iterable<HistoryMessage>, budgetTokens: number): HistoryMessage[] {
  const kept: HistoryMessage[] = [];
  let left = budgetTokens;
  for (const message of newestFirst) {
    const tokens = estimateTokens(textOf(message));
    // A reply that only called tools.
    if (tokens === 0) continue;
    left -= tokens;
    if (left < 0) break;
    kept.push(message);
  }
  kept.reverse();
  const firstUser = kept.findIndex((message) => message.role === "user");
  return firstUser === -1 ? [] : kept.slice(firstUser);
}
