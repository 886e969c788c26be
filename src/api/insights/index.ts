/** `GET /api/insights`: how conversations went, in figures. */
import { Type as t } from "@sinclair/typebox";
import { idParam, jsonResponse } from "../../http/api-description.ts";
import { metadataFilters, type QueryPart, uuidQuery } from "../../http/query.ts";
import { type Route, route } from "../../http/route.ts";
import { toUtcDay } from "../../lib/clock.ts";
import { dayMs, parseDay } from "../../lib/instant.ts";
import { isTimezone, toWallTime } from "../../lib/wall-clock.ts";
import { day, InsightsObject } from "./responses.ts";
import { readInsights } from "./service.ts";

const maxDays = 92;
const defaultDays = 30;
/** Its end is found by the wall clock up to two days later, where years have four digits. */
const lastDayMs = Date.UTC(9999, 11, 29);

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
    const toDay = (text: string) => {
      const startMs = parseDay(text);
      return startMs !== null && startMs <= lastDayMs ? startMs : undefined;
    };
    const problem = "Must be a day like 2026-01-31.";
    const givenFromMs = query.value("from", toDay, problem);
    const today = Date.parse(`${toWallTime(timezone, nowMs).date}T00:00:00Z`);
    const toMs = query.value("to", toDay, problem) ?? Math.max(givenFromMs ?? 0, today);
    const fromMs = givenFromMs ?? toMs - (defaultDays - 1) * dayMs;
    if (toMs < fromMs) query.value("to", () => undefined, "Must not be before `from`.");
    if (toMs - fromMs >= maxDays * dayMs) query.value("from", () => undefined, `At most ${maxDays} days at a time.`);
    return { fromDay: toUtcDay(fromMs), toDay: toUtcDay(toMs), timezone };
  },
};

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
