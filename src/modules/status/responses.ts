/** Responses of the status route: schemas for the API document, created on first use, and types for the dashboard. */
import { type Static, Type as t } from "@sinclair/typebox";
import { failureKinds } from "../../domain/reply-failure.ts";
import { namedObject } from "../../schemas/named-object.ts";

const SilentModelObject = namedObject("SilentModel", () => ({
  model: t.String({ examples: ["gpt-6-luna"] }),
  kind: t.Union(
    failureKinds.map((kind) => t.Literal(kind)),
    { description: "Why the last reply failed." },
  ),
  detail: t.String({
    description: "What the provider said, in the words of `companiond doctor`.",
    examples: ["gpt-6-luna does not reply at OpenAI: the provider answered 401 Incorrect API key provided."],
  }),
  advice: t.String({
    description: "What to do.",
    examples: ["Check OPENAI_API_KEY, OPENAI_BASE_URL (up to and including /v1) and COMPANIOND_MODEL."],
  }),
  replies: t.Integer({ description: "How many replies failed one after the other.", examples: [4] }),
  since: t.String({ format: "date-time" }),
  last_at: t.String({ format: "date-time" }),
}));

export const StatusObject = namedObject("Status", () => ({
  silent_models: t.Array(SilentModelObject, {
    description:
      "Models whose last reply failed for a reason that does not pass by itself, or whose last three replies failed. A " +
      "complete reply removes a model from the list, and so does a restart.",
  }),
}));
export type Status = Static<typeof StatusObject>;
