/** What a visitor's widget sends. */
import { type Static, Type as t } from "@sinclair/typebox";
import { messageText, nullableUuid } from "../../schemas/chat-message.ts";
import { compileChecker } from "../../schemas/schema.ts";

export const chatRequest = compileChecker(() =>
  t.Object(
    {
      message: messageText(),
      session_id: t.Optional(
        nullableUuid("Identifies the conversation. If left out, a new one begins; its id is in `X-Session-Id`."),
      ),
      visitor_id: t.Optional(nullableUuid("Identifies the visitor across conversations.")),
    },
    { $id: "ChatRequest" },
  ),
);
export type ChatRequest = Static<typeof chatRequest.schema>;
