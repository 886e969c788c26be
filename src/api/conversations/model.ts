/** Conversations on the wire. */
import { Type as t } from "@sinclair/typebox";
import type { ShownPassage } from "../../contracts/store/store.ts";
import type { Visitors } from "../../core/visitors/visitors.ts";
import { type Conversation, type Message, textOf } from "../../domain/conversation.ts";
import type { ToolCall } from "../../domain/tool.ts";
import { isVerifiedId } from "../../domain/visitor.ts";
import { nullableUuid } from "../../http/schemas/chat-message.ts";
import { compileChecker, Text, uuidPattern } from "../../http/schemas/schema.ts";
import { toWireToolCall } from "../../http/schemas/tool-call.ts";
import { toRfc3339 } from "../../lib/clock.ts";

/** A conversation that was anonymous until now. */
export const mergeBody = compileChecker(() =>
  t.Object(
    {
      session_id: Text({
        pattern: uuidPattern,
        problem: "Must be a UUID.",
        description: "The `session_id` of the conversation.",
        examples: ["7b1f5f0e-6c1e-4a55-8d0c-0d7f3d1b9a10"],
      }),
      visitor_id: t.Optional(nullableUuid("Its `visitor_id`; null or left out: the conversation without one.")),
    },
    { $id: "VisitorMerge" },
  ),
);

/** What owners see of a conversation and of who it is with. */
export async function showConversation(visitors: Visitors, conversation: Conversation) {
  const { visitorId, sealedVisitor } = conversation;
  const isVerified = isVerifiedId(visitorId);
  return {
    id: conversation.id,
    companion_id: conversation.companionId,
    session_id: conversation.sessionId,
    // The id of a verified visitor is the server's own affair.
    visitor_id: isVerified ? null : visitorId,
    visitor: isVerified && sealedVisitor !== null ? await visitors.open(visitorId, sealedVisitor) : null,
    message_count: conversation.messageCount,
    created_at: toRfc3339(conversation.createdAt),
    updated_at: toRfc3339(conversation.updatedAt),
  };
}

/** What verified visitors see of their own. */
export function toVisitorConversation(conversation: Conversation) {
  return {
    id: conversation.id,
    session_id: conversation.sessionId,
    message_count: conversation.messageCount,
    created_at: toRfc3339(conversation.createdAt),
    updated_at: toRfc3339(conversation.updatedAt),
  };
}

/** Without what the reply cost, and what was said to tools and by them. */
export function toVisitorMessage(message: Message, calls: readonly ToolCall[] = []) {
  const told = calls.map(toWireToolCall).map(({ arguments: _, result: __, ...call }) => call);
  return {
    id: message.id,
    role: message.role,
    channel: message.channel,
    text: textOf(message),
    complete: message.complete,
    ...(calls.length === 0 ? {} : { tool_calls: told }),
    created_at: toRfc3339(message.createdAt),
  };
}

/** `seen`: what the model saw of the companion's knowledge for this reply; `calls`: what it called. */
export function toWireMessage(message: Message, seen: readonly ShownPassage[] = [], calls: readonly ToolCall[] = []) {
  return {
    id: message.id,
    role: message.role,
    channel: message.channel,
    text: textOf(message),
    complete: message.complete,
    input_tokens: message.inputTokens,
    output_tokens: message.outputTokens,
    tokens_estimated: message.tokensEstimated,
    finish_reason: message.finishReason,
    model: message.model,
    provider: message.provider,
    ...(seen.length === 0 ? {} : { sources: seen.map(toWireSeen) }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toWireToolCall) }),
    created_at: toRfc3339(message.createdAt),
  };
}

function toWireSeen({ n, isCited, source }: ShownPassage) {
  return {
    n,
    cited: isCited,
    source_id: source?.id ?? null,
    title: source?.title ?? null,
    url: source?.url ?? null,
    page: source?.page ?? null,
    text: source?.text ?? null,
  };
}
