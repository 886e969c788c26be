/** Responses of the status route: schemas for the API document, created on first use, and types for the dashboard. */
import { type Static, Type as t } from "@sinclair/typebox";
import { failureKinds } from "../../domain/reply-failure.ts";
import { namedObject } from "../../http/schemas/named-object.ts";
import { OneOf } from "../../http/schemas/schema.ts";

const SilentModelObject = namedObject("SilentModel", () => ({
  model: t.String({ examples: ["gpt-6-luna"] }),
  kind: OneOf(failureKinds, { description: "Why the last reply failed." }),
  detail: t.String({
    description: "What the provider reported, in the words of `companiond doctor`.",
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

const RetiringModelObject = namedObject("RetiringModel", () => ({
  provider: t.String({
    description: "By its name here; `default` is that of the plain settings.",
    examples: ["default"],
  }),
  model: t.String({ description: "As the provider calls it.", examples: ["gpt-5-mini"] }),
  shutdown_date: t.String({ format: "date", description: "From this UTC day on the provider refuses it." }),
  companions: t.Integer({ description: "How many companions it may answer for, of all accounts.", examples: [12] }),
}));

const RefusedConfigObject = namedObject("RefusedConfig", () => ({
  window: t.Union([t.Literal("ip"), t.Literal("token")], {
    description: "What was full: that of the visitor's address, or that of the embed token.",
  }),
  detail: t.String({
    examples: ["312 page views were refused (429), since their companion had too many in a minute."],
  }),
  advice: t.String({
    description: "Which setting mends it.",
    examples: ["Set COMPANIOND_CONFIG_RATE_PER_TOKEN to more than 300 a minute."],
  }),
  count: t.Integer({ description: "How many were refused, without a pause of a day.", examples: [312] }),
  since: t.String({ format: "date-time" }),
  last_at: t.String({ format: "date-time" }),
}));

export const StatusObject = namedObject("Status", () => ({
  silent_models: t.Array(SilentModelObject, {
    description:
      "Models whose last reply failed for a reason that does not pass without a change, or whose last three replies failed. A " +
      "complete reply removes a model from the list, and so does a restart.",
  }),
  retiring_models: t.Array(RetiringModelObject, {
    description:
      "Models that companions may be answered by, and that their provider will shut down, or has: the earliest first. " +
      "Known from a few seconds after the start on.",
  }),
  refused_configs: t.Array(RefusedConfigObject, {
    description:
      "Page views whose configuration this server refused because of a limit by minute. An entry goes after a day " +
      "without another one, and with a restart.",
  }),
}));
export type Status = Static<typeof StatusObject>;
