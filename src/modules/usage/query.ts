/** The query of the usage routes: days, companion and grouping. */
import { Type as t } from "@sinclair/typebox";
import { idParam } from "../../http/api-description.ts";
import { type QueryPart, uuidQuery } from "../../http/query.ts";
import { toUtcDay } from "../../lib/clock.ts";
import { dayMs, parseDay } from "../../lib/instant.ts";
import type { UsageGroup } from "../../store/store.ts";
import { groups, maxDays } from "./model.ts";

const defaultDays = 30;

const day = (description: string, example: string) => t.String({ format: "date", description, examples: [example] });

/** Both ends included. */
export const daysQuery: QueryPart<{ fromDay: string; toDay: string }> = {
  parameters: {
    from: () => day("First day. If left out: 30 days up to `to`.", "2026-01-01"),
    to: () => day("Last day. If left out: today.", "2026-01-31"),
  },
  read(query, nowMs) {
    const problem = "Must be a UTC day like 2026-01-31.";
    const toDay = (text: string) => parseDay(text) ?? undefined;
    const givenFromMs = query.value("from", toDay, problem);
    const toMs = query.value("to", toDay, problem) ?? Math.max(givenFromMs ?? 0, startOfDay(nowMs));
    const fromMs = givenFromMs ?? toMs - (defaultDays - 1) * dayMs;
    if (toMs < fromMs) query.value("to", () => undefined, "Must not be before `from`.");
    if (toMs - fromMs >= maxDays * dayMs) query.value("from", () => undefined, `At most ${maxDays} days at a time.`);
    return { fromDay: toUtcDay(fromMs), toDay: toUtcDay(toMs) };
  },
};

export const companionQuery = uuidQuery("companion_id", () => idParam("companion"));

export const groupQuery: QueryPart<readonly UsageGroup[]> = {
  parameters: {
    group_by: () =>
      t.String({
        default: "day",
        pattern: `^(${groups.join("|")})(,(${groups.join("|")}))*$`,
        description: `Any of \`${groups.join("`, `")}\`, separated by commas.`,
      }),
  },
  read: (query) =>
    query.value("group_by", toGroups, `Must be some of ${groups.join(",")}, each once.`) ?? (["day"] as const),
};

function startOfDay(epochMs: number): number {
  return Math.floor(epochMs / dayMs) * dayMs;
}

function toGroups(text: string): UsageGroup[] | undefined {
  const names = text.split(",");
  const known = groups.filter((group) => names.includes(group));
  return known.length === names.length ? known : undefined;
}
