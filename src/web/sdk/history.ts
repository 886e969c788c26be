/** A verified visitor's own conversations, as the server sends them. */
import { CompanionError } from "../../reply-reader/errors.ts";

export interface ConversationSummary {
  id: string;
  /** What `resumeConversation` takes. */
  session_id: string;
  message_count: number;
  /** RFC 3339, as all times. */
  created_at: string;
  updated_at: string;
}

export interface StoredMessage {
  id: string;
  role: "user" | "assistant";
  channel: "text" | "voice";
  text: string;
  /** False of a reply that was cut off. */
  complete: boolean;
  /** Of a reply that called tools, in their order. `state`: `waiting`, `running`, `done`, `failed` or `declined`. */
  tool_calls?: { call_id: string; tool: string; state: string; created_at: string }[];
  /** Where a person wrote it; without a name it is the companion's. */
  author?: { type: "person"; name: string | null };
  created_at: string;
}

export interface ConversationPage {
  data: ConversationSummary[];
  /** For the next page; null at the end. */
  next_cursor: string | null;
}

export interface ConversationWithMessages extends ConversationSummary {
  /** One page, oldest first. */
  messages: StoredMessage[];
  /** For older ones; null where there are none. */
  messages_next_cursor: string | null;
}

/** The body, where it has this list. */
export function checkList<Body extends object>(body: Record<string, unknown>, list: keyof Body & string): Body {
  if (!Array.isArray(body[list])) throw new CompanionError("bad_response");
  return body as Body;
}
