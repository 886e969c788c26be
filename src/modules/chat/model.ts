/** What a visitor's widget sends. */
import { type Static, Type as t } from "@sinclair/typebox";
import { compileChecker, Nullable, Text, uuidPattern } from "../../http/schema.ts";

export const messageText = Text({
  minLength: 1,
  maxLength: 2000,
  accepts: (text) => text.trim() !== "",
  problem: "Must be 1 to 2000 characters of well-formed text without NUL, and not only white space.",
  description: "The message: 1 to 2000 Unicode code points, not only white space.",
  examples: ["What are your opening hours?"],
});

const uuid = (description: string) => Nullable(Text({ pattern: uuidPattern, problem: "Must be a UUID.", description }));

export const ChatRequest = t.Object(
  {
    message: messageText,
    session_id: t.Optional(
      uuid("Identifies the conversation. Left out: a new one begins, its id is in `X-Session-Id`."),
    ),
    visitor_id: t.Optional(uuid("Identifies the visitor across conversations.")),
  },
  { $id: "ChatRequest" },
);
export type ChatRequest = Static<typeof ChatRequest>;

export const chatRequest = compileChecker(ChatRequest);
