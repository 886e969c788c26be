/** The query of the usage routes: days, companion, grouping, and pages for callers that ask for them. */
import { Type as t } from "@sinclair/typebox";
import type { UsageGroup, UsagePosition } from "../../contracts/store/store.ts";
import { idParam } from "../../http/api-description.ts";
import { type QueryPart, uuidQuery } from "../../http/query.ts";
import { toUtcDay } from "../../lib/clock.ts";
import { isUuid } from "../../lib/ids.ts";
import { dayMs, parseDay } from "../../lib/instant.ts";
import { sha256Hex } from "../../lib/sha256.ts";

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

const maxLimit = 1000;
/** Of an answer without pages: some 13 MB. */
export const maxWholeRows = 50_000;
const wrongCursor = "This is not a cursor of this list and its group_by: use next_cursor unchanged.";

interface Grouping {
  groupBy: readonly UsageGroup[];
  /** Null: everything on one page. */
  page: { limit: number; after: UsagePosition | null } | null;
}

/** Grouping and pages, since a cursor is a position among the groups. */
export const groupingQuery: QueryPart<Grouping> = {
  parameters: {
    ...groupQuery.parameters,
    limit: () =>
      t.Integer({
        minimum: 1,
        maximum: maxLimit,
        description: `Rows on a page. If neither this nor \`cursor\` is sent, the answer has all rows, and is 400 where they are more than ${maxWholeRows}; with \`cursor\` alone, it is ${maxLimit}.`,
      }),
    cursor: () => t.String({ description: "`next_cursor` of the page before, with the same `group_by`." }),
  },
  read(query, nowMs) {
    const groupBy = groupQuery.read(query, nowMs);
    const limit = query.count("limit", maxLimit);
    const after = query.value("cursor", (text) => decodeCursor(text, groupBy), wrongCursor);
    return { groupBy, page: limit === null && after === null ? null : { limit: limit ?? maxLimit, after } };
  },
};

/** Whose cursor it is. */
const markOf = (groupBy: readonly UsageGroup[]) => sha256Hex(groupBy.join(",")).slice(0, 8);

export function encodeCursor(position: UsagePosition, groupBy: readonly UsageGroup[]): string {
  return Buffer.from(JSON.stringify([markOf(groupBy), ...position]), "utf8").toString("base64url");
}

function decodeCursor(cursor: string, groupBy: readonly UsageGroup[]): UsagePosition | undefined {
  const [mark, ...values] = parseList(cursor);
  if (mark !== markOf(groupBy) || values.length !== groupBy.length) return undefined;
  const position = values.map((value) => (typeof value === "string" ? value : null));
  const isSound = groupBy.every((group, at) => isValueOf(group, position[at] ?? null));
  return isSound && encodeCursor(position, groupBy) === cursor ? position : undefined;
}

/** What the store can find. */
function isValueOf(group: UsageGroup, value: string | null): boolean {
  if (group === "day") return value !== null && parseDay(value) !== null;
  return group !== "companion" || value === null || isUuid(value);
}

/** The parts of a cursor; none if it is not one. */
export function parseList(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
