/** Conversations: the stored thread of one visitor with one companion. */

export type MessageRole = "user" | "assistant";
export type MessageChannel = "text" | "voice";

/** What makes a conversation: the same session with another visitor, or with none, is another one. */
export interface ConversationKey {
  companionId: string;
  /** Lower case. */
  sessionId: string;
  /** Lower case; null is a value of its own, never a wildcard. */
  visitorId: string | null;
}

export interface Conversation extends ConversationKey {
  id: string;
  messageCount: number;
  createdAt: number;
  updatedAt: number;
}

export interface Message {
  id: string;
  role: MessageRole;
  channel: MessageChannel;
  text: string;
  /** False for a reply that was cut off: by the provider, or by the visitor leaving. */
  complete: boolean;
  inputTokens: number | null;
  outputTokens: number | null;
  /** True where the provider sent no usage and the figures are ours. */
  tokensEstimated: boolean;
  createdAt: number;
}

/** One earlier message as the model reads it. */
export interface HistoryMessage {
  role: MessageRole;
  text: string;
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
    left -= estimateTokens(message.text);
    if (left < 0) break;
    kept.push(message);
  }
  kept.reverse();
  const firstUser = kept.findIndex((message) => message.role === "user");
  return firstUser === -1 ? [] : kept.slice(firstUser);
}
