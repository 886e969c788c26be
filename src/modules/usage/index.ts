/** `GET /api/usage`: what was used, by UTC day, companion and key, as JSON or CSV; and why replies failed. */
import { missing, readId } from "../../domain/resource-id.ts";
import { prefers, varyBy } from "../../http/accept.ts";
import { idParam, jsonResponse } from "../../http/api-description.ts";
import { metadataFilters } from "../../http/query.ts";
import { type Route, route } from "../../http/route.ts";
import { toUtcDay } from "../../lib/clock.ts";
import { maxDays, toCsv, toWireFailures, toWireQuota, toWireUsage } from "./model.ts";
import { companionQuery, daysQuery, groupQuery } from "./query.ts";
import { FailedReplyList, QuotaObject, UsageList } from "./responses.ts";

export const usageRoutes: readonly Route[] = [
  route({
    id: "getUsage",
    method: "GET",
    path: "/api/usage",
    tag: "Usage",
    summary: "Read usage, as JSON or CSV",
    access: "usage:read",
    query: { days: daysQuery, groupBy: groupQuery, companionId: companionQuery, metadata: metadataFilters },
    document: () => ({
      description: `By UTC day, both ends included, at most ${maxDays} days at a time. Days without usage have no row. With \`Accept: text/csv\` the response is a file for spreadsheets.`,
      responses: {
        200: {
          description: "The sums by group.",
          content: { "application/json": UsageList, "text/csv": null },
          headers: ["Content-Disposition"],
        },
      },
    }),
    async handle({ services, principal, request, set, query }) {
      const { days, groupBy, companionId, metadata } = query;
      const wanted = { ...days, groupBy, companionId, metadata };
      const found = await services.store.usage.query(principal.account.id, wanted);
      const rows = found.map((row) => toWireUsage(row, groupBy));

      varyBy(set.headers, "Accept");
      // JSON for clients without a preference.
      if (!prefers(request.headers.get("accept"), "text/csv", "application/json")) return { data: rows };
      set.headers["content-type"] = "text/csv; charset=utf-8; header=present";
      set.headers["content-disposition"] = `attachment; filename="usage-${days.fromDay}-${days.toDay}.csv"`;
      return toCsv(rows, groupBy);
    },
  }),
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
      description: "What the provider refuses is given back. Trial chats count like visitors' messages.",
      params: { id: idParam("companion") },
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
