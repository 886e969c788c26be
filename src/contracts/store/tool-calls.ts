/**
 * Calls of tools: kept before they are sent, so that none is ever sent again under another name, and until the
 * conversation that they belong to is gone.
 */
import type { ConversationKey } from "../../domain/conversation.ts";
import type { ToolCall, ToolCallState } from "../../domain/tool.ts";
import type { Page, PageRequest } from "./page.ts";

/** Where calls belong: one reply of a conversation. */
export interface CallingReply {
  readonly key: ConversationKey;
  /** Of the reply as it will be stored. */
  readonly replyId: string;
  /** The client's name for the exchange; null if it gave none. */
  readonly messageId: string | null;
}

export interface CallEnd {
  readonly state: ToolCallState;
  readonly result: string;
  /** As in `ToolCall`. */
  readonly durationMs: number | null;
}

/** What a visitor decides on. */
export interface WaitingCall extends ToolCall {
  readonly reply: CallingReply;
}

export type Decision =
  /** Its state is `running` (approved) or `declined` now, in this commit alone: the caller that gets it may send it. */
  | { readonly outcome: "taken"; readonly call: WaitingCall }
  /** It was approved before, and has no result: it is under way still, or its server stopped. It may not be sent again. */
  | { readonly outcome: "running"; readonly call: WaitingCall }
  /** It was declined or has ended, or is too old. */
  | { readonly outcome: "over" }
  | { readonly outcome: "missing" };

export interface ToolCallStore {
  /** In one commit, before the first is sent. */
  begin(reply: CallingReply, calls: readonly ToolCall[]): Promise<void>;
  /** The outcome of a call, once; nothing if it is gone, or has ended already. */
  finish(id: string, end: CallEnd): Promise<void>;
  /**
   * What was begun for the message, whether or not its reply was stored, oldest first. Not empty without a stored reply:
   * the server stopped while they ran.
   */
  listOfMessage(key: ConversationKey, messageId: string): Promise<readonly (ToolCall & { replyId: string })[]>;
  /** Of these replies of a conversation: for its transcript. In the order in which they were asked for. */
  listOfReplies(replyIds: readonly string[]): Promise<ReadonlyMap<string, readonly ToolCall[]>>;
  /**
   * Newest first, by their ids, unless the page asks otherwise; those of deleted conversations are left out, so that a
   * page may have fewer items than `limit`. `conversationId`: null while nothing of the conversation is stored. Null if
   * the account has no such tool.
   */
  listOfTool(
    accountId: string,
    companionId: string,
    toolId: string,
    page: PageRequest,
  ): Promise<Page<ToolCall & { conversationId: string | null }> | null>;
  /**
   * Decides on a call that waits in a conversation with exactly this key; `sinceMs`: it was asked for at that time or
   * later. `missing` for an unknown one, another visitor's, one whose tool or conversation is gone, and one that never
   * waited.
   */
  decide(id: string, key: ConversationKey, decision: { isApproved: boolean; sinceMs: number }): Promise<Decision>;
  /**
   * Up to `limit` of those begun before, whose reply was not stored: of a turn that was erased, or whose server stopped.
   * Returns how many.
   */
  deleteOrphans(beforeMs: number, limit: number): Promise<number>;
}
