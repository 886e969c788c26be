/** `GET /api/usage`: what was used, by whatever was recorded with it, as JSON or CSV; and why replies failed. */
import type { UsageGroup } from "../../contracts/store/store.ts";
import { AppError, missing, readId } from "../../domain/errors.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { prefers, varyBy } from "../../http/compression.ts";
import { toCell } from "../../http/csv.ts";
import { respondInParts, writeRows } from "../../http/parts-response.ts";
import { metadataFilters } from "../../http/query.ts";
import { type Route, route } from "../../http/route.ts";
import { toUtcDay } from "../../lib/clock.ts";
import { usageEventsRoute } from "./events.ts";
import { companionQuery, daysQuery, encodeCursor, groupingQuery, maxDays, maxWholeRows } from "./query.ts";
import {
  FailedReplyList,
  QuotaObject,
  toWireFailures,
  toWireQuota,
  toWireUsage,
  UsageList,
  type WireRow,
} from "./responses.ts";

export const usageRoutes: readonly Route[] = [
  route({
    id: "getUsage",
    method: "GET",
    path: "/api/usage",
    tag: "Usage",
    summary: "Read usage, as JSON or CSV",
    access: "usage:read",
    query: { days: daysQuery, grouping: groupingQuery, companionId: companionQuery, metadata: metadataFilters },
    document: () => ({
      description:
        `By UTC day, both ends included, at most ${maxDays} days at a time. Days without usage have no row. Filters by ` +
        "metadata and `metadata.<field>` are about what was recorded: the companion's metadata when it replied. Changing " +
        "or deleting it moves nothing. With `Accept: text/csv` the response is a file for spreadsheets.",
      responses: {
        200: {
          description: "The sums by group.",
          content: { "application/json": UsageList, "text/csv": null },
          headers: ["Content-Disposition", "Link"],
        },
      },
    }),
    async handle({ services, principal, request, set, query }) {
      const { days, grouping, companionId, metadata } = query;
      const { groupBy, page } = grouping;
      const wanted = { ...days, groupBy, companionId, metadata };
      const { usage } = services.store;
      const { id } = principal.account;
      const { rows: found, next } =
        page === null
          ? { rows: await usage.query(id, wanted, maxWholeRows), next: null }
          : await usage.queryPage(id, wanted, page);
      // Never a part of them unasked: who adds up rows would take it for the whole.
      if (page === null && found.length > maxWholeRows) throw tooManyRows();
      const cursor = next === null ? null : encodeCursor(next, groupBy);

      varyBy(set.headers, "Accept");
      // JSON for clients without a preference.
      if (!prefers(request.headers.get("accept"), "text/csv", "application/json")) {
        const rows = await writeRows(found, (row) => JSON.stringify(toWireUsage(row, groupBy)), ",");
        const end = page === null ? "]}" : `],"next_cursor":${JSON.stringify(cursor)}}`;
        set.headers["content-type"] = "application/json";
        return await respondInParts(request, set, [Buffer.from('{"data":['), ...rows, Buffer.from(end)]);
      }
      set.headers["content-type"] = "text/csv; charset=utf-8; header=present";
      set.headers["content-disposition"] = `attachment; filename="usage-${days.fromDay}-${days.toDay}.csv"`;
      if (cursor !== null) set.headers["link"] = toNextLink(request.url, cursor);
      const csv = createCsv(groupBy);
      const lines = await writeRows(found, (row) => csv.line(toWireUsage(row, groupBy)));
      return await respondInParts(request, set, [Buffer.from(csv.header), ...lines]);
    },
  }),
  usageEventsRoute,
  route({
    id: "getFailedReplies",
    method: "GET",
    path: "/api/usage/failures",
    tag: "Usage",
    summary: "Read why replies failed",
    access: "usage:read",
    query: { days: daysQuery, companionId: companionQuery },
    document: () => ({
      description: `By UTC day, both ends included, at most ${maxDays} days at a time; trial chats are counted too. Only the operator sees the provider's own words.`,
      responses: { 200: jsonResponse("By kind.", FailedReplyList) },
    }),
    async handle({ services, principal, query: { days, companionId } }) {
      const rows = await services.store.usage.queryFailures(principal.account.id, { ...days, companionId });
      return { data: rows.map(toWireFailures) };
    },
  }),
  route({
    id: "getQuota",
    method: "GET",
    path: "/api/companions/{id}/quota",
    tag: "Usage",
    summary: "Read how many messages and voice sessions a companion has left today",
    access: "usage:read",
    document: () => ({
      description:
        "A message is refunded where the provider failed, and counted nothing. Trial chats count like visitors' messages.",
      responses: { 200: jsonResponse("Today's quota.", QuotaObject) },
    }),
    async handle({ services, principal: { account }, params }) {
      const { settings, store, clock } = services;
      const companion = await store.companions.find(account.id, readId(params.id, "companion"));
      if (companion === null) throw missing("companion");
      const day = toUtcDay(clock.nowMs());
      const messages = await store.turns.countDay(companion.id, day);
      const voiceSessions = await store.voice.countDay(companion.id, day);
      const { dailyMessages, monthlyTokens } = companion;
      const byPlan = settings.dailyMessages[account.plan];
      const month = day.slice(0, "YYYY-MM".length);
      return {
        day,
        ...toWireQuota(Math.min(byPlan, dailyMessages ?? byPlan), messages),
        monthly_tokens:
          monthlyTokens === null
            ? null
            : toWireQuota(monthlyTokens, await store.turns.countMonthTokens(account.id, companion.id, month)),
        voice_sessions: toWireQuota(settings.dailyVoiceSessions[account.plan], voiceSessions),
      };
    },
  }),
];

function tooManyRows(): AppError {
  const bound = `These are more than ${maxWholeRows} rows.`;
  const detail = `${bound} Send limit=1000 and go on with next_cursor, or ask for fewer days or groups.`;
  return new AppError("invalid_request", detail, { errors: [{ param: "limit", detail }] });
}

/** RFC 8288: a CSV file has nowhere else for it. */
function toNextLink(url: string, cursor: string): string {
  const { searchParams } = new URL(url);
  searchParams.set("cursor", cursor);
  return `<?${searchParams}>; rel="next"`;
}

const firstGroups = { day: "day", companion: "companion_id", key: "key_id" } as const;
const firstCounts = ["messages", "requests", "input_tokens", "output_tokens", "voice_sessions", "errors"];
const laterCounts = ["cached_tokens", "cost_micros", "reasoning_tokens", "cache_write_tokens"];

/**
 * CSV by RFC 4180, with a header line first. The columns depend only on the grouping, and keep their order: later ones, groups as
 * well, are behind those that there were before.
 */
function createCsv(groupBy: readonly UsageGroup[]) {
  const before = Object.entries(firstGroups).flatMap(([group, column]) =>
    groupBy.includes(group as UsageGroup) ? [column] : [],
  );
  const later = groupBy.filter((group) => !Object.hasOwn(firstGroups, group));
  const columns = [...before, ...firstCounts, ...later, ...laterCounts];
  return {
    header: `${columns.map(toCell).join(",")}\r\n`,
    line: (row: WireRow) => `${columns.map((column) => toCell(row[column] ?? "")).join(",")}\r\n`,
  };
}
