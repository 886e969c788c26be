/** Ends the line of an API key: the key and all keys created from it. Call it inside a write. */
import { toRfc3339 } from "../../lib/clock.ts";
import type { EndedKey, NewApiKey, Replacement } from "../contract/api-keys.ts";
import {
  type KeyLineChange,
  requireLastingMaker,
  requireReplaceable,
  sortLine,
  toLineEntry,
  toRevokeEntries,
} from "../rows/key-lines.ts";
import type { ChangeRecorder } from "./changes.ts";
import type { SqliteEngine } from "./engine.ts";

const line = `WITH RECURSIVE line (id) AS (
    SELECT id FROM api_keys WHERE id = ? AND account_number = ? AND revoked_at IS NULL
    UNION SELECT made.id FROM line JOIN api_keys made ON made.created_by_key_id = line.id)`;
const ofLine = "id IN (SELECT id FROM line) AND revoked_at IS NULL";
const ended = "RETURNING id, name, start, last_four AS lastFour";

export const keyLineQueries = {
  select: `${line} SELECT id FROM line`,
  revoke: `${line} UPDATE api_keys SET revoked_at = ? WHERE ${ofLine} ${ended}`,
  expire: `${line} UPDATE api_keys SET expires_at = ?
    WHERE ${ofLine} AND (expires_at IS NULL OR expires_at > ?) ${ended}`,
};

export function createKeyLines(engine: SqliteEngine, changes: ChangeRecorder) {
  const selectExpiry = engine.query<{ expiresAt: number | null }, [string, number]>(
    "SELECT expires_at AS expiresAt FROM api_keys WHERE id = ? AND account_number = ? AND revoked_at IS NULL",
  );
  const selectLine = engine.query<{ id: string }, [string, number]>(keyLineQueries.select);
  const revokeLine = engine.query<EndedKey, [string, number, number]>(keyLineQueries.revoke);
  const expireLine = engine.query<EndedKey, [string, number, number, number]>(keyLineQueries.expire);
  const markReplaced = engine.query<EndedKey & { expiresAt: number | null }, [string, number, string]>(
    `UPDATE api_keys SET replaced_by_key_id = ?, replaced_at = ? WHERE id = ? ${ended}, expires_at AS expiresAt`,
  );

  /** The key itself comes first. */
  function revoke(change: KeyLineChange, keyId: string, ofRoot: Record<string, string> = {}): EndedKey[] {
    const revoked = sortLine(revokeLine.all(keyId, change.accountNumber, change.context.nowMs), keyId);
    for (const entry of toRevokeEntries(change, revoked, ofRoot)) changes.audit(entry);
    return revoked;
  }

  /** Keys that expire earlier keep their expiry. */
  function expire(change: KeyLineChange, keyId: string, endsAt: number): void {
    const shortened = expireLine.all(keyId, change.accountNumber, endsAt, endsAt);
    const details = { expires_at: toRfc3339(endsAt), expires_with: keyId };
    const others = sortLine(shortened, keyId).filter(({ id }) => id !== keyId);
    for (const key of others) changes.audit(toLineEntry(change, key, "key.expire", details));
  }

  return {
    revoke,

    requireMaker(accountNumber: number, key: NewApiKey, nowMs: number): void {
      if (key.createdByKeyId === null) return;
      requireLastingMaker(selectExpiry.get(key.createdByKeyId, accountNumber), key, nowMs);
    },

    requireReplaceable(accountNumber: number, old: Replacement, key: NewApiKey): void {
      const ids = selectLine.all(old.keyId, accountNumber).map(({ id }) => id);
      requireReplaceable(ids, key);
    },

    /** Marks the old key, and ends it with its line. */
    replace(change: KeyLineChange, { keyId, endsAt }: Replacement, newId: string): void {
      const isOver = endsAt <= change.context.nowMs;
      if (!isOver) expire(change, keyId, endsAt);
      const old = markReplaced.get(newId, change.context.nowMs, keyId);
      if (isOver) revoke(change, keyId, { replaced_by: newId });
      else if (old !== null) {
        const details = { replaced_by: newId, expires_at: toRfc3339(old.expiresAt ?? endsAt) };
        changes.audit(toLineEntry(change, old, "key.replace", details));
      }
    },
  };
}
