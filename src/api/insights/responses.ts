/** The response of `GET /api/insights`: its schema, created on first use. */
import { type Static, Type as t } from "@sinclair/typebox";
import { namedObject } from "../../http/schemas/named-object.ts";
import { Nullable } from "../../http/schemas/schema.ts";

export const day = (description: string) => t.String({ format: "date", description, examples: ["2026-01-31"] });
const count = (description: string) => t.Integer({ minimum: 0, description });
const seconds = (description: string) => Nullable(t.Number({ minimum: 0, description }));

export const InsightsObject = namedObject("Insights", () => ({
  ...{ from: day("First day."), to: day("Last day, included."), timezone: t.String({ examples: ["Europe/Berlin"] }) },
  conversations: count("Conversations that began."),
  replies: count(
    "Complete replies of companions. Beyond 20 000 conversations: as usage counts messages, by UTC day, trials included.",
  ),
  up: count("Replies rated up."),
  down: count("Replies rated down."),
  resolved: count("Conversations that their visitor called resolved, and wrote nothing after it."),
  unresolved: count("The same, called unresolved. Silence counts as neither."),
  unanswered: count("Questions that found no answer in the companion's knowledge, as long as they are not dismissed."),
  asked: count("How often a person was asked for."),
  taken: count("How often a person took a conversation."),
  missed: count("Asks that no one took."),
  contacts: count("Contacts that visitors left."),
  first_answer_seconds: t.Object(
    { median: seconds("Half of the answers came within it."), p90: seconds("Nine of ten came within it.") },
    { description: "From the ask, or the message to a person, to the person's answer. Null where none was answered." },
  ),
  handled_seconds: count("How long people had conversations, in all."),
  cost_micros: Nullable(
    t.Integer({
      description:
        "What replies cost the operator, in millionths of a US dollar, by UTC day as `GET /api/usage` sums it. Null: part of it has no price.",
      examples: [1_250_000],
    }),
  ),
  busy: t.Array(t.Array(count("Conversations that began in that hour."), { minItems: 24, maxItems: 24 }), {
    ...{ minItems: 7, maxItems: 7, examples: [new Array(7).fill(new Array(24).fill(0))] },
    description: "By weekday from Monday, and by hour, in the zone.",
  }),
}));
export type Insights = Static<typeof InsightsObject>;
