/** What a visitor's widget sends. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { FieldError } from "../../domain/errors.ts";
import { messageText, nullableUuid } from "../../schemas/chat-message.ts";
import { compileChecker, Nullable } from "../../schemas/schema.ts";

export const chatRequest = compileChecker(() =>
  t.Object(
    {
      message: messageText(),
      session_id: t.Optional(
        nullableUuid("Identifies the conversation. If left out, a new one begins; its id is in `X-Session-Id`."),
      ),
      visitor_id: t.Optional(nullableUuid("Identifies the visitor across conversations; ignored for a verified one.")),
      message_id: t.Optional(
        nullableUuid(
          "Names the message, so that the same request can be made again: it gets the same reply, and nothing is " +
            "counted twice. Needs `session_id`.",
        ),
      ),
      resume: t.Optional(
        Nullable(
          t.Boolean({
            default: false,
            description:
              "Whether the reply goes on when its reader leaves, for two minutes at most. Needs `message_id`, under " +
              "which the client comes back.",
          }),
        ),
      ),
    },
    { $id: "ChatRequest" },
  ),
);
export type ChatRequest = Static<typeof chatRequest.schema>;

/** What a named message lacks; the rest of it may not have been checked. */
export function listNamingFaults({ message_id, session_id, resume }: Partial<ChatRequest>): FieldError[] {
  const faults: FieldError[] = [];
  if (resume === true && !message_id) {
    faults.push({ param: "message_id", detail: "This field is required where resume is true." });
  }
  if (message_id && !session_id) {
    faults.push({ param: "session_id", detail: "This field is required where there is a message_id." });
  }
  return faults;
}
