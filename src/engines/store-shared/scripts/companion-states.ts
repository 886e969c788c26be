/** Companions with their tools and sources, as they are at one moment inside a transaction. */
import type { Companion } from "../../../domain/companion.ts";
import type { Source } from "../../../domain/knowledge.ts";
import type { Tool } from "../../../domain/tool.ts";
import type { VersionSource } from "../../../domain/version.ts";
import { settingFields } from "../rows/companion.ts";
import { type StoredSource, sourceFields, toSource } from "../rows/knowledge.ts";
import { type ToolRow, toolFields, toTool } from "../rows/tools.ts";
import { all, columns, type Script } from "./script.ts";

/**
 * The condition for companion `c` to belong to an account, where it is found by something else. No index serves it:
 * with plans made for empty tables, PostgreSQL could read all companions of an account to find one.
 */
export const ofAccount = (accountId: string) => `(c.account_id = ${accountId}) IS TRUE`;

export const selectBySlugs =
  "SELECT c.slug, c.id FROM companions c WHERE c.account_id = $1 AND c.slug = ANY ($2::text[])";

/** What versions keep. */
export interface CompanionState {
  readonly number: number;
  readonly companion: Companion;
  /** By name. */
  readonly tools: readonly Tool[];
  /** By id. */
  readonly sources: readonly VersionSource[];
}

export interface HeldCompanion extends CompanionState {
  readonly sources: readonly StoredSource[];
}

type CompanionRow = Companion & { number: number };

const fields: readonly (keyof CompanionRow)[] = [
  ...settingFields,
  ...(["number", "id", "accountId", "version", "embedToken", "hasSources", "toolCount", "hadPeople"] as const),
  ...(["avatarHash", "avatarBytes", "seenOn"] as const),
  ...(["createdByKeyId", "createdAt", "updatedAt"] as const),
];
const booleans = ["ratings", "askResolved", "enabled", "hasSources", "hadPeople"] as const;
const jsons = [
  "metadata",
  "allowedOrigins",
  "starters",
  "appearance",
  "handoff",
  "leads",
  "seenOn",
] as const satisfies (keyof Companion)[];

const shown = columns<CompanionRow>("c", fields);
const shownTools = columns<ToolRow>("t", toolFields);
const shownSources = columns<StoredSource>("s", sourceFields);
const condition = `c.id = ANY ($1::text[]) AND ${ofAccount("$2")} ORDER BY c.number`;
export const stateQueries = {
  read: `SELECT ${shown} FROM companions c WHERE ${condition}`,
  // A deletion of the companion waits, or comes first.
  lock: `SELECT ${shown} FROM companions c WHERE ${condition} FOR NO KEY UPDATE OF c`,
  lockToDelete: `SELECT ${shown} FROM companions c WHERE ${condition} FOR UPDATE OF c`,
  tools: `SELECT ${shownTools} FROM tools t WHERE t.companion_id = ANY ($1::text[]) ORDER BY t.name`,
  sources: `SELECT ${shownSources} FROM knowledge_sources s WHERE s.companion_id = ANY ($1::text[]) ORDER BY s.id`,
};

/** As both databases give it: JSON is text, and SQLite has 0 and 1 for booleans. */
function toCompanion({ number: _, ...row }: CompanionRow): Companion {
  const values: Record<string, unknown> = row;
  for (const field of booleans) values[field] = Boolean(values[field]);
  for (const field of jsons) if (values[field] !== null) values[field] = JSON.parse(values[field] as string);
  return row;
}

const groupByCompanion = <Row extends { companionId: string }>(rows: readonly Row[]) =>
  Map.groupBy(rows, ({ companionId }) => companionId);

function* read(text: string, accountId: string, ids: readonly string[]): Script<HeldCompanion[]> {
  const rows = ids.length === 0 ? [] : yield* all<CompanionRow>(text, ids, accountId);
  const withTools = rows.filter(({ toolCount }) => toolCount > 0).map(({ id }) => id);
  const withSources = rows.filter(({ hasSources }) => hasSources).map(({ id }) => id);
  const tools = withTools.length === 0 ? [] : yield* all<ToolRow>(stateQueries.tools, withTools);
  const sources = withSources.length === 0 ? [] : yield* all<StoredSource>(stateQueries.sources, withSources);
  const [toolsOf, sourcesOf] = [groupByCompanion(tools.map(toTool)), groupByCompanion(sources)];
  return rows.map((row) => ({
    number: row.number,
    companion: toCompanion(row),
    tools: toolsOf.get(row.id) ?? [],
    sources: sourcesOf.get(row.id) ?? [],
  }));
}

/** The account's companions of these ids, in the order of creation; those of others are missing. */
export const companionStates = {
  read: (accountId: string, ids: readonly string[]) => read(stateQueries.read, accountId, ids),
  /** Until the transaction ends, no one else changes or deletes them. */
  lock: (accountId: string, ids: readonly string[]) => read(stateQueries.lock, accountId, ids),
  lockToDelete: (accountId: string, ids: readonly string[]) => read(stateQueries.lockToDelete, accountId, ids),

  *lockOne(accountId: string, id: string): Script<HeldCompanion | null> {
    return (yield* read(stateQueries.lock, accountId, [id]))[0] ?? null;
  },
};

export const sourcesOf = ({ sources }: HeldCompanion): Source[] => sources.map(toSource);
