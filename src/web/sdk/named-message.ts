/** What names a message and its reply at the server. */
import type { NamedMessage } from "../../reply-stream/follow-reply.ts";
import type { PendingReply } from "./pending.ts";

export function nameMessage({ messageId, sessionId, message }: PendingReply, visitorId: string): NamedMessage {
  return {
    body: { message, session_id: sessionId, visitor_id: visitorId, message_id: messageId },
    path: `/chat/${messageId}?session_id=${sessionId}&visitor_id=${visitorId}`,
  };
}
