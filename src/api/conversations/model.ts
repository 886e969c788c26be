/** What is sent to move a conversation to a verified visitor. */
import { Type as t } from "@sinclair/typebox";
import { nullishUuid } from "../../http/schemas/chat-message.ts";
import { compileChecker, Text, uuidPattern } from "../../http/schemas/schema.ts";

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
      visitor_id: nullishUuid("Its `visitor_id`; null or left out: the conversation without one."),
    },
    { $id: "VisitorMerge" },
  ),
);
