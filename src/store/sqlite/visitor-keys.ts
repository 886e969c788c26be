/** The keys with which websites sign tokens for their visitors, in SQLite. */
import { pause } from "../../lib/pause.ts";
import { toPage } from "../contract/page.ts";
import type { VisitorKey, VisitorKeyStore } from "../contract/visitor-keys.ts";
import type { WriteContext } from "../contract/write-context.ts";
import { beforeAll } from "../rows/budgets.ts";
import {
  describeVisitorKey,
  indexFacts,
  indexFilter,
  type LiveKeys,
  mostCandidates,
  noKeys,
  pickOnly,
  requireRoomForKey,
  type VisitorKeyFacts,
} from "../rows/visitor-keys.ts";
import type { SqliteEngine } from "./engine.ts";
import type { ChangeRecorder } from "./parts.ts";
import { mapColumns, type StoredRow } from "./rows/columns.ts";
import { visitorKeys } from "./schema/accounts.ts";

/** Conversations per commit while what is sealed is deleted: a few milliseconds of work. */
const conversationsPerCommit = 500;

type KeyRow = Omit<StoredRow<typeof visitorKeys>, "accountId" | "fact" | "filterHash">;

interface Position {
  number: number;
  createdAt: number;
}

const keyColumns = mapColumns(visitorKeys, ["accountId", "fact", "filterHash"]);
const returned = "id, name, algorithm, metadata, sealed, created_at AS createdAt";
const shown = "k.id, k.name, k.algorithm, k.metadata, k.sealed, k.created_at AS createdAt";

export const visitorKeyQueries = {
  find: `SELECT ${shown} FROM visitor_keys k WHERE k.id = ? AND k.account_id = ? AND k.sealed IS NOT NULL`,
  // In this order: an index lookup for each fact of the companion, however many keys the account has.
  candidates: `SELECT ${shown} FROM json_each(?) AS f
    CROSS JOIN visitor_keys k ON k.fact = f.value AND k.sealed IS NOT NULL LIMIT ?`,
  newest: `SELECT ${shown} FROM visitor_keys k
    WHERE k.account_id = ? AND k.id < ? AND k.sealed IS NOT NULL ORDER BY k.id DESC LIMIT ?`,
  oldest: `SELECT ${shown} FROM visitor_keys k
    WHERE k.account_id = ? AND k.id > ? AND k.sealed IS NOT NULL ORDER BY k.id LIMIT ?`,
  count: `SELECT (SELECT count(*) FROM visitor_keys WHERE account_id = ?) AS ofAccount,
    (SELECT count(*) FROM visitor_keys WHERE filter_hash = ? AND sealed IS NOT NULL) AS ofFilter`,
  rarest: `SELECT f.value AS fact FROM json_each(?) AS f ORDER BY
    (SELECT count(*) FROM visitor_keys k WHERE k.fact = f.value AND k.sealed IS NOT NULL) LIMIT 1`,
};

export function createVisitorKeyStore(engine: SqliteEngine, changes: ChangeRecorder): VisitorKeyStore {
  const select = engine.query<KeyRow, [string, string]>(visitorKeyQueries.find);
  const selectCandidates = engine.query<KeyRow, [string, number]>(visitorKeyQueries.candidates);
  const pages = {
    desc: engine.query<KeyRow, [string, string, number]>(visitorKeyQueries.newest),
    asc: engine.query<KeyRow, [string, string, number]>(visitorKeyQueries.oldest),
  };
  const count = engine.query<LiveKeys, [string, string]>(visitorKeyQueries.count);
  const selectRarest = engine.query<{ fact: string }, [string]>(visitorKeyQueries.rarest);
  const insert = keyColumns.createInsert(engine);
  const forgetRevoked = engine.query<null, [string]>(
    "DELETE FROM visitor_keys WHERE account_id = ? AND sealed IS NULL",
  );
  // A revoked key stays only where there is no other, to tell that the account has had keys.
  const remove = engine.query<KeyRow, [string, string, string, string]>(
    `DELETE FROM visitor_keys AS k WHERE k.id = ? AND k.account_id = ? AND k.sealed IS NOT NULL
       AND EXISTS (SELECT 1 FROM visitor_keys o WHERE o.account_id = ? AND o.id <> ?) RETURNING ${returned}`,
  );
  const revoke = engine.query<KeyRow, [string, string]>(
    `UPDATE visitor_keys SET sealed = NULL WHERE id = ? AND account_id = ? AND sealed IS NOT NULL RETURNING ${returned}`,
  );
  const selectHolders = engine.query<{ email: string }, [number]>(
    `SELECT email FROM accounts WHERE id IN (SELECT account_id FROM visitor_keys) ORDER BY number LIMIT ?`,
  );
  const selectConversations = engine.query<Position, [string, number, number, number]>(
    `SELECT number, created_at AS createdAt FROM conversations INDEXED BY conversations_account
     WHERE account_id = ? AND (created_at, number) > (?, ?) ORDER BY created_at, number LIMIT ?`,
  );
  const forgetVisitor = engine.query<null, [number]>(
    "UPDATE conversations SET sealed_visitor = NULL WHERE number = ? AND sealed_visitor IS NOT NULL",
  );
  const forgetCallers = engine.query<null, [string]>(
    "UPDATE voice_sessions SET sealed_visitor = NULL WHERE account_id = ? AND sealed_visitor IS NOT NULL",
  );
  const deleteAll = engine.query<null, [string]>("DELETE FROM visitor_keys WHERE account_id = ?");

  const decode = keyColumns.createReader();
  const read = (row: KeyRow) => decode(row) as VisitorKey;

  function record(context: WriteContext, accountId: string, action: string, key: VisitorKeyFacts): void {
    changes.record(context, { accountId, action, targetId: key.id, details: describeVisitorKey(key) });
  }

  /** Of up to a commit's conversations after this one; returns the last of them, or null at the end. */
  function forgetSome(accountId: string, after: Position): Position | null {
    const rows = selectConversations.all(accountId, after.createdAt, after.number, conversationsPerCommit);
    for (const { number } of rows) forgetVisitor.run(number);
    return rows.at(-1) ?? null;
  }

  return {
    create: (accountId, key, context) =>
      engine.write(() => {
        changes.requireAccount(accountId);
        const { facts, filterHash } = indexFilter(accountId, key);
        const live = count.get(accountId, filterHash) ?? noKeys;
        requireRoomForKey(live);
        if (live.ofAccount === 1) forgetRevoked.run(accountId);
        const { fact = "" } = selectRarest.get(facts) ?? {};
        insert({ ...key, accountId, fact, filterHash });
        record(context, accountId, "visitor_key.create", key);
      }),

    list: (accountId, { limit, afterId, order = "desc" }) =>
      engine.read(() => {
        const rows = pages[order].all(accountId, afterId ?? beforeAll[order], limit + 1);
        return toPage(rows.map(read), limit);
      }),

    find: (accountId, id) =>
      engine.read(() => {
        const row = select.get(id, accountId);
        return row === null ? null : read(row);
      }),

    findOnly: (accountId, facts) =>
      engine.read(() => {
        const rows = selectCandidates.all(indexFacts(accountId, facts), mostCandidates);
        return pickOnly(rows.map(read), facts);
      }),

    revoke: (accountId, id, context) =>
      engine.write(() => {
        const row = remove.get(id, accountId, accountId, id) ?? revoke.get(id, accountId);
        if (row === null) return false;
        record(context, accountId, "visitor_key.revoke", read(row));
        return true;
      }),

    listHolders: (limit) => engine.read(() => selectHolders.all(limit).map(({ email }) => email)),

    reset: async (accountId, context) => {
      // The keys last: as long as one is there, the account is still among those that hold sealed text.
      for (let after: Position | null = { number: 0, createdAt: -1 }; after !== null; await pause()) {
        const from: Position = after;
        after = await engine.write(() => forgetSome(accountId, from));
      }
      return await engine.write(() => {
        if (changes.findAccountNumber(accountId) === null) return false;
        forgetCallers.run(accountId);
        deleteAll.run(accountId);
        changes.record(context, { accountId, action: "visitor_key.reset", targetId: accountId, details: {} });
        return true;
      });
    },
  };
}
