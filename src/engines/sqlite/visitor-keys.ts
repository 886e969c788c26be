/** Finds the keys with which websites sign tokens for their visitors, in SQLite. */
import type { VisitorKey } from "../../contracts/store/visitor-keys.ts";
import { pause } from "../../lib/pause.ts";
import { indexFacts, maxCandidates, pickOnly, type VisitorKeyLookups } from "../store-shared/scripts/visitor-keys.ts";
import type { SqliteEngine } from "./engine.ts";
import { mapColumns, type StoredRow } from "./rows/columns.ts";
import { tables } from "./tables.ts";

/** Conversations per commit while what is sealed is deleted: a few milliseconds of work. */
const conversationsPerCommit = 500;

type KeyRow = Omit<StoredRow<typeof tables.visitorKeys>, "accountId" | "fact" | "filterHash">;

interface Position {
  number: number;
  createdAt: number;
}

const keyColumns = mapColumns(tables.visitorKeys, ["accountId", "fact", "filterHash"]);
const shown = "k.id, k.name, k.algorithm, k.metadata, k.sealed, k.created_at AS createdAt";

export const visitorKeyLookupQueries = {
  find: `SELECT ${shown} FROM visitor_keys k WHERE k.id = ? AND k.account_id = ? AND k.sealed IS NOT NULL`,
  // In this order: an index lookup for each fact of the companion, however many keys the account has.
  candidates: `SELECT ${shown} FROM json_each(?) AS f
    CROSS JOIN visitor_keys k ON k.fact = f.value AND k.sealed IS NOT NULL LIMIT ?`,
};

export function createVisitorKeyLookups(engine: SqliteEngine): VisitorKeyLookups {
  const select = engine.query<KeyRow, [string, string]>(visitorKeyLookupQueries.find);
  const selectCandidates = engine.query<KeyRow, [string, number]>(visitorKeyLookupQueries.candidates);
  const selectConversations = engine.query<Position, [string, number, number, number]>(
    `SELECT number, created_at AS createdAt FROM conversations INDEXED BY conversations_account
     WHERE account_id = ? AND (created_at, number) > (?, ?) ORDER BY created_at, number LIMIT ?`,
  );
  const forgetVisitor = engine.query<null, [number]>(
    "UPDATE conversations SET sealed_visitor = NULL WHERE number = ? AND sealed_visitor IS NOT NULL",
  );
  const decode = keyColumns.createReader();
  const read = (row: KeyRow) => decode(row) as VisitorKey;

  /** Of up to a commit's conversations after this one; returns the last of them, or null at the end. */
  function forgetSome(accountId: string, after: Position): Position | null {
    const rows = selectConversations.all(accountId, after.createdAt, after.number, conversationsPerCommit);
    for (const { number } of rows) forgetVisitor.run(number);
    return rows.at(-1) ?? null;
  }

  return {
    find: (accountId, id) =>
      engine.read(() => {
        const row = select.get(id, accountId);
        return row === null ? null : read(row);
      }),

    findOnly: (accountId, facts) =>
      engine.read(() => {
        const rows = selectCandidates.all(JSON.stringify(indexFacts(accountId, facts)), maxCandidates);
        return pickOnly(rows.map(read), facts);
      }),

    async forgetVisitors(accountId) {
      for (let after: Position | null = { number: 0, createdAt: -1 }; after !== null; await pause()) {
        const from: Position = after;
        after = await engine.write(() => forgetSome(accountId, from));
      }
    },
  };
}
