/** Pages of usage: only for whoever asks for them, everything else is whole. */
import { Type as t } from "@sinclair/typebox";
import type { UsageGroup, UsagePosition } from "../../contracts/store/store.ts";
import type { QueryPart } from "../../http/query.ts";
import { isUuid } from "../../lib/ids.ts";
import { parseDay } from "../../lib/instant.ts";
import { sha256Hex } from "../../lib/sha256.ts";
import { groupQuery } from "./query.ts";

const maxLimit = 1000;
/** Of an answer without pages: some 13 MB. */
export const maxWholeRows = 50_000;
const wrongCursor = "This is not a cursor of this list and its group_by: use next_cursor unchanged.";

export interface Grouping {
  groupBy: readonly UsageGroup[];
  /** Null: everything at once. */
  page: { limit: number; after: UsagePosition | null } | null;
}

/** Grouping and pages, since a cursor is a place among the groups. */
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

/** What the store looks for. */
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
