/** What another instance sends: proven to be one, but perhaps of another version. */
import { Type as t } from "@sinclair/typebox";
import type { ReplyCall } from "../../core/instances/instances.ts";
import { messageText } from "../../http/schemas/chat-message.ts";
import { compileChecker, Nullable, Nullish, Text, uuidPattern } from "../../http/schemas/schema.ts";

const uuid = () => Text({ pattern: uuidPattern });

const replyCall = compileChecker(() =>
  t.Object({
    action: t.Union([t.Literal("attach"), t.Literal("follow"), t.Literal("cancel")]),
    key: t.Object({ companionId: uuid(), sessionId: uuid(), visitorId: Nullable(Text({ maxLength: 100 })) }),
    messageId: uuid(),
    message: Nullable(messageText()),
    resume: t.Boolean(),
    offset: t.Integer({ minimum: 0 }),
    // Of a version that knows of them.
    sources: Nullish(t.Union([t.Literal("cited"), t.Literal("seen")])),
  }),
);

/** Throws `invalid_request`. */
export function checkReplyCall(value: unknown): ReplyCall {
  const call = replyCall.check(value);
  return { ...call, sources: call.sources ?? null };
}
