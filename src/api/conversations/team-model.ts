/** What the team sends of conversations: taking, releasing, writing, typing, reading, notes and status. */
import { Type as t } from "@sinclair/typebox";
import { conversationStatuses, maxTagLength, maxTags } from "../../domain/handoff.ts";
import { describeAs } from "../../http/acting-person.ts";
import { compileBody, Nullable, OneOf, Text, uuidPattern } from "../../http/schemas/schema.ts";

const from = () =>
  t.Optional(
    Text({
      ...{ minLength: 1, maxLength: 256, examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"] },
      description: "The `id` of the colleague who has it now.",
    }),
  );

export const takeBody = compileBody("ConversationTake", () => ({
  stop: t.Optional(
    t.Boolean({
      default: true,
      description:
        "Whether a reply under way is stopped. `false`: it ends first, and the conversation is reserved until then.",
    }),
  ),
  from: from(),
  as: describeAs(),
}));

export const releaseBody = compileBody("ConversationRelease", () => ({
  close: t.Optional(t.Boolean({ default: false, description: "Also sets the status to `closed`." })),
  from: from(),
  as: describeAs(),
}));

const maxTextLength = 4000;

export const personMessageBody = compileBody("PersonMessage", () => ({
  text: Text({ minLength: 1, maxLength: maxTextLength, examples: ["Your parcel arrives tomorrow."] }),
  client_id: Text({
    pattern: uuidPattern,
    problem: "Must be a UUID.",
    description: "Your own name for the message: sent again, it is the same message.",
    examples: ["7b1f5f0e-6c1e-4a55-8d0c-0d7f3d1b9a10"],
  }),
  after: t.Optional(
    t.Integer({
      ...{ minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      description: "The newest `seq` that the person has seen: refused if a colleague wrote beyond it.",
      examples: [4],
    }),
  ),
  as: describeAs(),
}));

export const teamTypingBody = compileBody("PersonTyping", () => ({ typing: t.Boolean(), as: describeAs() }));

export const readBody = compileBody("ConversationRead", () => ({
  seq: t.Integer({
    ...{ minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    description: "The newest `seq` that the person has read; never goes back.",
    examples: [5],
  }),
  as: describeAs(),
}));

export const noteBody = compileBody("NewConversationNote", () => ({
  text: Text({ minLength: 1, maxLength: maxTextLength, examples: ["Wants a refund, see order 4711."] }),
  as: describeAs(),
}));

export const conversationPatchBody = compileBody("ConversationPatch", () => ({
  status: t.Optional(
    Nullable(
      OneOf(conversationStatuses, { description: "Null: plain talk. `closed` also releases it to the companion." }),
    ),
  ),
  assignee: t.Optional(
    Nullable(
      Text({
        minLength: 1,
        maxLength: 64,
        description: "The id of a member.",
        examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"],
      }),
    ),
  ),
  tags: t.Optional(
    t.Array(Text({ minLength: 1, maxLength: maxTagLength }), {
      maxItems: maxTags,
      description: "All of them; folded to lower case.",
      examples: [["returns"]],
    }),
  ),
  as: describeAs(),
}));
