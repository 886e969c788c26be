/** `GET /api/usage`: what was used, by UTC day, companion and key, as JSON or CSV; and why replies failed. */
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { missing, readId } from "../../domain/resource-id.ts";
import { prefers, varyBy } from "../../http/accept.ts";
import { respondJson } from "../../http/json-response.ts";
import { openPrincipal } from "../../http/principal-guard.ts";
import { openQuery, type QueryReader, refuseQuery } from "../../http/query.ts";
import { toUtcDay } from "../../lib/clock.ts";
import { toUuid } from "../../lib/ids.ts";
import { dayMs, parseDay } from "../../lib/instant.ts";
import type { FailureQuery, UsageGroup, UsageQuery } from "../../store/store.ts";
import { groups, maxDays, toCsv, toWireFailures, toWireUsage } from "./model.ts";

const defaultDays = 30;

export function usageModule(services: Services) {
  return (app: Elysia) =>
    app
      .get("/api/usage", async ({ request, set }) => {
        const { account } = await openPrincipal(services, request, "usage:read", set.headers);
        const query = openQuery(request, ["from", "to", "group_by", "companion_id"], true);
        const wanted = readUsageQuery(query, services.clock.nowMs());
        query.finish();
        const { groupBy, fromDay, toDay } = wanted;
        const rows = (await services.store.usage.query(account.id, wanted)).map((row) => toWireUsage(row, groupBy));

        varyBy(set.headers, "Accept");
        // JSON is what is sent to those who do not say, or do not mind.
        if (!prefers(request.headers.get("accept"), "text/csv", "application/json"))
          return respondJson(set, { data: rows });
        set.headers["content-type"] = "text/csv; charset=utf-8; header=present";
        set.headers["content-disposition"] = `attachment; filename="usage-${fromDay}-${toDay}.csv"`;
        return toCsv(rows, groupBy);
      })
      .get("/api/usage/failures", async ({ request, set }) => {
        const { account } = await openPrincipal(services, request, "usage:read", set.headers);
        const query = openQuery(request, ["from", "to", "companion_id"]);
        const wanted = readPlace(query, services.clock.nowMs());
        query.finish();
        const rows = await services.store.usage.queryFailures(account.id, wanted);
        return respondJson(set, { data: rows.map(toWireFailures) });
      })
      .get("/api/companions/:id/quota", async ({ request, params, set }) => {
        const { account } = await openPrincipal(services, request, "usage:read", set.headers);
        refuseQuery(request);
        const companion = await services.store.companions.find(account.id, readId(params.id, "companion"));
        if (companion === null) throw missing("companion");
        const day = toUtcDay(services.clock.nowMs());
        const { settings, store } = services;
        const messages = toWireQuota(
          settings.dailyMessages[account.plan],
          await store.turns.countDay(companion.id, day),
        );
        const voice = toWireQuota(
          settings.dailyVoiceSessions[account.plan],
          await store.voice.countDay(companion.id, day),
        );
        return respondJson(set, { day, ...messages, voice_sessions: voice });
      });
}

function toWireQuota(limit: number, used: number) {
  return { limit, used, left: Math.max(0, limit - used) };
}

function readUsageQuery(query: QueryReader, nowMs: number): UsageQuery {
  return {
    ...readPlace(query, nowMs),
    groupBy: query.value("group_by", toGroups, `Must be some of ${groups.join(",")}, each once.`) ?? ["day"],
    metadata: query.metadata,
  };
}

/** Of which days and which companion. */
function readPlace(query: QueryReader, nowMs: number): FailureQuery {
  const problem = "Must be a UTC day like 2026-01-31.";
  const toDay = (text: string) => parseDay(text) ?? undefined;
  const givenFromMs = query.value("from", toDay, problem);
  const toMs = query.value("to", toDay, problem) ?? Math.max(givenFromMs ?? 0, startOfDay(nowMs));
  const fromMs = givenFromMs ?? toMs - (defaultDays - 1) * dayMs;
  if (toMs < fromMs) query.value("to", () => undefined, "Must not lie before `from`.");
  if (toMs - fromMs >= maxDays * dayMs) query.value("from", () => undefined, `At most ${maxDays} days at a time.`);
  return {
    fromDay: toUtcDay(fromMs),
    toDay: toUtcDay(toMs),
    companionId: query.value("companion_id", toUuid, "Must be a UUID."),
  };
}

function startOfDay(epochMs: number): number {
  return Math.floor(epochMs / dayMs) * dayMs;
}

function toGroups(text: string): UsageGroup[] | undefined {
  const names = text.split(",");
  const known = groups.filter((group) => names.includes(group));
  return known.length === names.length ? known : undefined;
}
