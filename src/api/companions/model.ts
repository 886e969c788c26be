/** What owners send to companions, and the trace of a test chat. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { TurnResult } from "../../core/turns/turn-start.ts";
import { type HistoryMessage, textOf, textParts } from "../../domain/conversation.ts";
import { messageText, nullishUuid } from "../../http/schemas/chat-message.ts";
import { nameText } from "../../http/schemas/name.ts";
import { compileBody, compileChecker, Nullish, Text } from "../../http/schemas/schema.ts";
import { slugText } from "../../http/schemas/slug.ts";
import { companionFields } from "./fields.ts";

export const companionSlug = () =>
  slugText("What files call it, unique in the account: otherwise 409 `conflict`. Not set: no file does.", "support");

export const newCompanionBody = compileChecker(() => {
  const { name, sent } = companionFields();
  return t.Object(
    { name, slug: Nullish(companionSlug()), ...sent },
    {
      $id: "NewCompanion",
      additionalProperties: false,
      description: "A companion to create; only the name is required.",
    },
  );
});

export const companionPatchBody = compileChecker(() => {
  const { name, sent } = companionFields();
  return t.Object(
    { name: t.Optional(name), slug: Nullish(companionSlug()), ...sent },
    {
      $id: "CompanionPatch",
      additionalProperties: false,
      description: "The fields to change; `null` clears one, `metadata` is replaced as a whole.",
    },
  );
});
export type SentSettings = Static<typeof companionPatchBody.schema>;

export const newEmbedTokenBody = compileBody("NewEmbedToken", () => ({
  name: Nullish(nameText("Where it is used.", "Landing page")),
}));

export type NewEmbedTokenBody = Static<typeof newEmbedTokenBody.schema>;

export const testChatBody = compileChecker(() =>
  t.Object(
    {
      message: messageText(),
      session_id: nullishUuid("Accepted as in the public chat, without effect: nothing is stored."),
      visitor_id: nullishUuid("Accepted as in the public chat, without effect: nothing is stored."),
      history: Nullish(
        t.Array(
          t.Object({
            role: t.Union([t.Literal("user"), t.Literal("assistant")], { description: "Who said it." }),
            text: Text({ minLength: 1, maxLength: 100_000, description: "What was said.", examples: ["Hello!"] }),
          }),
          { maxItems: 200, description: "Earlier turns, oldest first, since nothing is stored between calls." },
        ),
      ),
      trace: Nullish(
        t.Boolean({
          description:
            "True: before its end the stream reports, in a comment line `: trace {…}` that clients ignore, what was " +
            "sent to the model, the tokens, and the time to the first and to the last text.",
        }),
      ),
    },
    { $id: "TestChat" },
  ),
);
type TestChatBody = Static<typeof testChatBody.schema>;

/** Newest first, as turns take it. */
export function toHistory({ history }: TestChatBody): HistoryMessage[] {
  return (history ?? []).map(({ role, text }) => ({ role, parts: textParts(text) })).reverse();
}

/** What the trace of a test chat shows the owner. */
export function toWireTrace({ request, usage, firstTextMs }: TurnResult, totalMs: number) {
  const { systemPrompt, messages, model, temperature, reasoningEffort, maxOutputTokens } = request;
  const prompt = systemPrompt === null ? [] : [{ role: "system", text: systemPrompt }];
  return {
    model,
    temperature,
    reasoning_effort: reasoningEffort,
    max_output_tokens: maxOutputTokens,
    messages: [...prompt, ...messages.map((message) => ({ role: message.role, text: textOf(message) }))],
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens,
    tokens_estimated: usage.estimated,
    first_text_ms: firstTextMs === null ? null : Math.round(firstTextMs),
    total_ms: Math.round(totalMs),
  };
}
