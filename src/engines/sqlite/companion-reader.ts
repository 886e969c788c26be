/** What lists of companions read that no index serves alone; `rows/companion-walk.ts` decides what is read. */
import type { SQLQueryBindings } from "bun:sqlite";
import type { MetadataFilter } from "../../contracts/store/companions.ts";
import { createCompanionReader } from "../store-shared/rows/companion.ts";
import type { CompanionReader, Position } from "../store-shared/rows/companion-walk.ts";
import { createAccountNumberFinder, type SqliteEngine } from "./engine.ts";
import type { MetadataIndex } from "./metadata-index.ts";
import { mapColumns, type StoredRow } from "./rows/columns.ts";
import { tables } from "./tables.ts";

export const companionColumns = mapColumns(tables.companions, ["number", "nameFolded", "hadTools"]);

export type CompanionRow = Omit<StoredRow<typeof tables.companions>, "number" | "nameFolded" | "hadTools">;

export const toCompanion = createCompanionReader<CompanionRow>(companionColumns.createReader(["metadata"]));

const end = Number.MAX_SAFE_INTEGER;

function selectPositions(columns: string, index: string, condition: string, order: string): string {
  return `SELECT ${columns} FROM companions INDEXED BY ${index} WHERE account_id = ? AND ${condition} ORDER BY ${order} LIMIT ?`;
}

const updated = "number, updated_at AS updatedAt";
const made = "number, 0 AS updatedAt";
export const companionWalkQueries = {
  made: {
    asc: selectPositions(made, "companions_account", "number > ?", "number"),
    desc: selectPositions(made, "companions_account", "number < ?", "number DESC"),
  },
  enabled: {
    asc: selectPositions(made, "companions_enabled", "enabled = ? AND number > ?", "number"),
    desc: selectPositions(made, "companions_enabled", "enabled = ? AND number < ?", "number DESC"),
  },
  updated: {
    asc: selectPositions(updated, "companions_updated", "(updated_at, number) > (?, ?)", "updated_at, number"),
    desc: selectPositions(
      updated,
      "companions_updated",
      "updated_at >= ? AND (updated_at, number) < (?, ?)",
      "updated_at DESC, number DESC",
    ),
  },
  countEnabled: `SELECT count(*) AS count FROM
    (SELECT 1 FROM companions INDEXED BY companions_enabled WHERE account_id = ? AND enabled = ? LIMIT ?)`,
};

/** Of an account, and of those of its companions that have the metadata. */
export function createCompanionReaders(engine: SqliteEngine, metadata: MetadataIndex) {
  const query = <Row>(text: string) => engine.query<Row, SQLQueryBindings[]>(text);
  const { made, enabled, updated } = companionWalkQueries;
  const positions = {
    made: { asc: query<Position>(made.asc), desc: query<Position>(made.desc) },
    enabled: { asc: query<Position>(enabled.asc), desc: query<Position>(enabled.desc) },
    updated: { asc: query<Position>(updated.asc), desc: query<Position>(updated.desc) },
  };
  const countEnabled = query<{ count: number }>(companionWalkQueries.countEnabled);
  const selectPosition = query<{ number: number; id: string }>(
    "SELECT number, id FROM companions WHERE id <= ? ORDER BY id DESC LIMIT 1",
  );
  const selectExact = query<{ number: number }>("SELECT number FROM companions WHERE id = ? AND account_id = ?");
  const selectId = query<{ id: string }>("SELECT id FROM companions WHERE number = ?");
  const selectFacts = query<Position & { isEnabled: number; nameFolded: string }>(
    `SELECT number, updated_at AS updatedAt, enabled AS isEnabled, name_folded AS nameFolded FROM companions
     WHERE number = ? AND account_id = ?`,
  );
  const selectCompanion = engine.query<CompanionRow, [number, string]>(
    () => `SELECT ${companionColumns.select("c")} FROM companions c WHERE c.number = ? AND c.account_id = ?`,
  );
  const findAccountNumber = createAccountNumberFinder(engine);

  return (accountId: string, filters: readonly MetadataFilter[]): CompanionReader => ({
    findPosition: (id) =>
      engine.read(() => {
        const row = selectPosition.get(id);
        if (row === null) return 0.5;
        return row.id === id ? row.number : row.number + 0.5;
      }),
    findExact: (id) => engine.read(() => selectExact.get(id, accountId)?.number ?? null),
    findId: (number) => engine.read(() => selectId.get(number)?.id ?? null),
    listPositions: ({ order, sinceMs, isEnabled }, after, limit) =>
      engine.read(() => {
        if (sinceMs !== null) {
          if (order === "asc")
            return positions.updated.asc.all(accountId, ...keyOf(after ?? { updatedAt: sinceMs, number: 0 }), limit);
          return positions.updated.desc.all(accountId, sinceMs, ...keyOf(after ?? last), limit);
        }
        const from = after?.number ?? (order === "asc" ? 0 : end);
        if (isEnabled === null) return positions.made[order].all(accountId, from, limit);
        return positions.enabled[order].all(accountId, isEnabled ? 1 : 0, from, limit);
      }),
    countEnabled: (isEnabled, limit) =>
      engine.read(() => countEnabled.get(accountId, isEnabled ? 1 : 0, limit)?.count ?? 0),
    readSets: () =>
      engine.snapshot(() => {
        const account = findAccountNumber(accountId);
        return new Map(account === null ? [] : metadata.walkSets(account, filters, end));
      }),
    readFacts: (numbers) =>
      engine.snapshot(() => {
        const rows = numbers.map((number) => selectFacts.get(number, accountId)).filter((row) => row !== null);
        return rows.map((row) => ({ ...row, isEnabled: row.isEnabled === 1 }));
      }),
    readCompanions: (numbers) =>
      engine.snapshot(() => {
        const rows = numbers.map((number) => selectCompanion.get(number, accountId)).filter((row) => row !== null);
        return rows.map(toCompanion);
      }),
  });
}

const last: Position = { updatedAt: end, number: 0 };

function keyOf({ updatedAt, number }: Position): [number, number] {
  return [updatedAt, number];
}
