/** `GET /api/insights`: how conversations went, in figures. */
import { Type as t } from "@sinclair/typebox";
import { idParam, jsonResponse } from "../../http/api-description.ts";
import { metadataFilters, type QueryPart, uuidQuery } from "../../http/query.ts";
import { type Route, route } from "../../http/route.ts";
import { namedObject } from "../../http/schemas/named-object.ts";
import { Nullable } from "../../http/schemas/schema.ts";
import { dayMs, parseDay } from "../../lib/instant.ts";
import { isTimezone, toWallTime } from "../../lib/wall-clock.ts";
import { readInsights } from "./service.ts";

const maxDays = 92;
const defaultDays = 30;

const day = (description: string) => t.String({ format: "date", description, examples: ["2026-01-31"] });

const daysQuery: QueryPart<{ fromDay: string; toDay: string; timezone: string }> = {
  parameters: {
    from: () => day(`First day. If left out: ${defaultDays} days up to \`to\`.`),
    to: () => day("Last day, included. If left out: today."),
    timezone: () =>
      t.String({
        default: "UTC",
        description: "The zone that days are of: an IANA name.",
        examples: ["Europe/Berlin"],
      }),
  },
  read(query, nowMs) {
    const toZone = (text: string) => (text.length <= 64 && isTimezone(text) ? text : undefined);
    const timezone = query.value("timezone", toZone, "Must be an IANA time zone such as Europe/Berlin.") ?? "UTC";
    const toDay = (text: string) => parseDay(text) ?? undefined;
    const problem = "Must be a day like 2026-01-31.";
    const givenFromMs = query.value("from", toDay, problem);
    const today = Date.parse(`${toWallTime(timezone, nowMs).date}T00:00:00Z`);
    const toMs = query.value("to", toDay, problem) ?? Math.max(givenFromMs ?? 0, today);
    const fromMs = givenFromMs ?? toMs - (defaultDays - 1) * dayMs;
    if (toMs < fromMs) query.value("to", () => undefined, "Must not be before `from`.");
    if (toMs - fromMs >= maxDays * dayMs) query.value("from", () => undefined, `At most ${maxDays} days at a time.`);
    const toText = (atMs: number) => new Date(atMs).toISOString().slice(0, "YYYY-MM-DD".length);
    return { fromDay: toText(fromMs), toDay: toText(toMs), timezone };
  },
};

const count = (description: string) => t.Integer({ minimum: 0, description });
const seconds = (description: string) => Nullable(t.Number({ minimum: 0, description }));

const InsightsObject = namedObject("Insights", () => ({
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

export const insightRoutes: readonly Route[] = [
  route({
    id: "getInsights",
    method: "GET",
    path: "/api/insights",
    tag: "Usage",
    summary: "Read how conversations went",
    access: "usage:read",
    query: {
      days: daysQuery,
      companionId: uuidQuery("companion_id", () => idParam("companion")),
      metadata: metadataFilters,
    },
    document: () => ({
      description:
        `Counted when it is asked for, at most ${maxDays} days at a time. What was erased counts nowhere. Filters by metadata ` +
        "are about what companions have now; for `cost_micros` about what was recorded.",
      responses: { 200: jsonResponse("The figures.", InsightsObject) },
    }),
    async handle({ services, principal, query: { days, companionId, metadata } }) {
      return await readInsights(services, principal, { ...days, companionId, metadata });
    },
  }),
];
