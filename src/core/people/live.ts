/** Who listens to conversations here, and what they are told; nothing of it is stored. */
import type { LiveMessage } from "../../contracts/store/handoffs.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import type { Handoff } from "../../domain/handoff.ts";

/** What a listener of one conversation is told, in order. */
export type LiveEvent =
  | { readonly type: "state"; readonly handoff: Handoff | null }
  | { readonly type: "message"; readonly message: LiveMessage }
  /** `who`: the other side, as the listener sees it. */
  | {
      readonly type: "typing";
      readonly isTyping: boolean;
      readonly by: "visitor" | "person";
      readonly name: string | null;
    }
  /** Nothing follows. `again`: come back; `unavailable`, `visitor_unverified`, `replaced`: why it ends. */
  | { readonly type: "end"; readonly reason: "again" | "unavailable" | "visitor_unverified" | "replaced" | "over" };

/** What the team is told of an account's conversations. */
export type InboxEvent =
  | { readonly type: "conversation"; readonly conversationId: string; readonly change: number }
  | {
      readonly type: "typing";
      readonly conversationId: string;
      readonly isTyping: boolean;
      readonly by: "visitor" | "person";
      readonly name: string | null;
    }
  | { readonly type: "presence" };

export interface LiveHub {
  /** Call it after each commit that changes the conversation or adds to it; tells all instances. Cheap where nobody listens. */
  noteChanged(change: { accountId: string; companionId: string; conversationId: string; key: ConversationKey }): void;
  noteTyping(typing: {
    accountId: string;
    conversationId: string;
    by: "visitor" | "person";
    personId: string | null;
    name: string | null;
    isTyping: boolean;
  }): void;
  notePresence(accountId: string): void;
  /** Whether a listener or poll of the visitor was here, or at another instance, within the last 30 s. */
  isReached(conversationId: string): boolean;
}
