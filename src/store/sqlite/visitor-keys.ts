/** The keys with which websites sign tokens for their visitors, in SQLite. */
import { mostVisitorKeys } from "../../domain/visitor.ts";
import { pause } from "../../lib/pause.ts";
import type { VisitorKey, VisitorKeyStore } from "../contract/visitor-keys.ts";
import type { WriteContext } from "../contract/write-context.ts";
import { tooManyVisitorKeys } from "../rows/refusals.ts";
import type { ChangeRecorder } from "./changes.ts";
import type { SqliteEngine } from "./engine.ts";

/** Conversations per commit while what is sealed is deleted: a few milliseconds of work. */
const conversationsPerCommit = 500;

type KeyFacts = Pick<VisitorKey, "id" | "name" | "algorithm">;

interface Position {
  number: number;
  createdAt: number;
}

export const visitorKeyQueries = {
  list: `SELECT id, name, algorithm, sealed, created_at AS createdAt FROM visitor_keys
    WHERE account_id = ? AND sealed IS NOT NULL ORDER BY created_at DESC, id DESC`,
};

export function createVisitorKeyStore(engine: SqliteEngine, changes: ChangeRecorder): VisitorKeyStore {
  const selectLive = engine.query<VisitorKey, [string]>(visitorKeyQueries.list);
  const insert = engine.query<null, [string, string, string, string, string, number]>(
    "INSERT INTO visitor_keys (id, account_id, name, algorithm, sealed, created_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const revoke = engine.query<KeyFacts, [string, string]>(
    `UPDATE visitor_keys SET sealed = NULL WHERE account_id = ? AND id = ? AND sealed IS NOT NULL
     RETURNING id, name, algorithm`,
  );
  // One is enough to tell that the account has had keys; the list would read past all of them.
  const forgetOthers = engine.query<null, [string, string]>(
    "DELETE FROM visitor_keys WHERE account_id = ? AND id <> ? AND sealed IS NULL",
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

  function record(context: WriteContext, accountId: string, action: string, { id, name, algorithm }: KeyFacts): void {
    changes.record(context, { accountId, action, targetId: id, details: { name, algorithm } });
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
        if (selectLive.all(accountId).length >= mostVisitorKeys) throw tooManyVisitorKeys();
        insert.run(key.id, accountId, key.name, key.algorithm, key.sealed, key.createdAt);
        record(context, accountId, "visitor_key.create", key);
      }),

    list: (accountId) => engine.read(() => selectLive.all(accountId)),

    revoke: (accountId, id, context) =>
      engine.write(() => {
        const revoked = revoke.get(accountId, id);
        if (revoked === null) return false;
        forgetOthers.run(accountId, id);
        record(context, accountId, "visitor_key.revoke", revoked);
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
