/** Conversations on the wire. */
import { type Conversation, type Message, textOf } from "../../domain/conversation.ts";
import { toRfc3339 } from "../../lib/clock.ts";

export function toWireConversation(conversation: Conversation) {
  return {
    id: conversation.id,
    companion_id: conversation.companionId,
    session_id: conversation.sessionId,
    visitor_id: conversation.visitorId,
    message_count: conversation.messageCount,
    created_at: toRfc3339(conversation.createdAt),
    updated_at: toRfc3339(conversation.updatedAt),
  };
}

export function toWireMessage(message: Message) {
  return {
    id: message.id,
    role: message.role,
    channel: message.channel,
    text: textOf(message),
    complete: message.complete,
    input_tokens: message.inputTokens,
    output_tokens: message.outputTokens,
    tokens_estimated: message.tokensEstimated,
    created_at: toRfc3339(message.createdAt),
  };
}
