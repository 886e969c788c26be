/** The query of the usage routes: days, companion and grouping. */
import { Type as t } from "@sinclair/typebox";
import type { UsageGroup } from "../../contracts/store/store.ts";
import { idParam } from "../../http/api-description.ts";
import { type QueryPart, uuidQuery } from "../../http/query.ts";
import { toUtcDay } from "../../lib/clock.ts";
import { dayMs, parseDay } from "../../lib/instant.ts";

/** Three years, leap day included. */
export const maxDays = 1096;
const defaultDays = 30;

const plainGroups = ["day", "companion", "key", "month", "model", "provider"] as const satisfies readonly UsageGroup[];
const metadataPrefix = "metadata.";
/** Each multiplies the rows. */
const maxMetadataGroups = 5;

const day = (description: string, example: string) => t.String({ format: "date", description, examples: [example] });

export interface Days {
  fromDay: string;
  toDay: string;
}

/** Both ends included. */
export const daysQuery: QueryPart<Days> = {
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

const name = `(${plainGroups.join("|")}|metadata\\.[^,]+)`;

/** In the order of rows. */
export const groupQuery: QueryPart<readonly UsageGroup[]> = {
  parameters: {
    group_by: () =>
      t.String({
        default: "day",
        pattern: `^${name}(,${name})*$`,
        description:
          `Any of \`${plainGroups.join("`, `")}\`, and up to ${maxMetadataGroups} fields of the recorded metadata as ` +
          "`metadata.<field>`, a dot for each level; separated by commas, each once.",
        examples: ["metadata.tenant,month"],
      }),
  },
  read: (query) =>
    query.value(
      "group_by",
      toGroups,
      `Must be some of ${plainGroups.join(",")} and up to ${maxMetadataGroups} of metadata.<field>, each once.`,
    ) ?? (["day"] as const),
};

export function startOfDay(epochMs: number): number {
  return Math.floor(epochMs / dayMs) * dayMs;
}

function toGroups(text: string): UsageGroup[] | undefined {
  const names = text.split(",");
  const plain = plainGroups.filter((group) => names.includes(group));
  const fields = [...new Set(names.filter(isMetadataGroup))];
  const isWhole = plain.length + fields.length === names.length && fields.length <= maxMetadataGroups;
  return isWhole ? [...plain, ...fields] : undefined;
}

function isMetadataGroup(text: string): text is `metadata.${string}` {
  return text.startsWith(metadataPrefix) && text.length > metadataPrefix.length;
}
