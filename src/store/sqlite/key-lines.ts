/** Ends the line of an API key: the key and all keys created from it. Call it inside a write. */
import { toRfc3339 } from "../../lib/clock.ts";
import type { EndedKey, NewApiKey, Replacement } from "../contract/api-keys.ts";
import {
  type KeyLineChange,
  type LineKey,
  requireLastingMaker,
  sortLine,
  toLineEntry,
  toRevokeEntries,
} from "../rows/key-lines.ts";
import type { SqliteEngine } from "./engine.ts";
import type { ChangeRecorder } from "./parts.ts";

const ended = "RETURNING id, name, start, last_four AS lastFour";

export const keyLineQueries = {
  select: `WITH RECURSIVE line (id, createdByKeyId, expiresAt) AS (
      SELECT id, created_by_key_id, expires_at FROM api_keys WHERE id = ? AND account_number = ? AND revoked_at IS NULL
      UNION SELECT made.id, made.created_by_key_id, made.expires_at
        FROM line JOIN api_keys made ON made.created_by_key_id = line.id)
    SELECT id, createdByKeyId, expiresAt FROM line`,
  revoke: `UPDATE api_keys SET revoked_at = ? WHERE id IN (SELECT value FROM json_each(?)) AND revoked_at IS NULL ${ended}`,
  expire: `UPDATE api_keys SET expires_at = ? WHERE id IN (SELECT value FROM json_each(?)) AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > ?) ${ended}`,
};

export function createKeyLines(engine: SqliteEngine, changes: ChangeRecorder) {
  const selectExpiry = engine.query<{ expiresAt: number | null }, [string, number]>(
    "SELECT expires_at AS expiresAt FROM api_keys WHERE id = ? AND account_number = ? AND revoked_at IS NULL",
  );
  const selectLine = engine.query<LineKey, [string, number]>(keyLineQueries.select);
  const revokeLine = engine.query<EndedKey, [number, string]>(keyLineQueries.revoke);
  const expireLine = engine.query<EndedKey, [number, string, number]>(keyLineQueries.expire);
  const markReplaced = engine.query<EndedKey & { expiresAt: number | null }, [string, number, string]>(
    `UPDATE api_keys SET replaced_by_key_id = ?, replaced_at = ? WHERE id = ? ${ended}, expires_at AS expiresAt`,
  );

  /** `ids`: what ends with it. The key itself comes first. */
  function revoke(
    change: KeyLineChange,
    keyId: string,
    ids: readonly string[],
    ofRoot: Record<string, string> = {},
  ): EndedKey[] {
    const revoked = sortLine(revokeLine.all(change.context.nowMs, JSON.stringify(ids)), keyId);
    for (const entry of toRevokeEntries(change, revoked, ofRoot)) changes.audit(entry);
    return revoked;
  }

  /** Keys that expire earlier keep their expiry. */
  function expire(change: KeyLineChange, keyId: string, ids: readonly string[], endsAt: number): void {
    const shortened = expireLine.all(endsAt, JSON.stringify(ids), endsAt);
    const details = { expires_at: toRfc3339(endsAt), expires_with: keyId };
    const others = sortLine(shortened, keyId).filter(({ id }) => id !== keyId);
    for (const key of others) changes.audit(toLineEntry(change, key, "key.expire", details));
  }

  return {
    /** A key and its line, revoked ones included; empty if there is no such active key. */
    select: (accountNumber: number, keyId: string) => selectLine.all(keyId, accountNumber),
    revoke,

    requireMaker(accountNumber: number, key: NewApiKey, nowMs: number): void {
      if (key.createdByKeyId === null) return;
      requireLastingMaker(selectExpiry.get(key.createdByKeyId, accountNumber), key, nowMs);
    },

    /** Marks the old key, and ends it with `ids`. */
    replace(change: KeyLineChange, { keyId, endsAt }: Replacement, ids: readonly string[], newId: string): void {
      const isOver = endsAt <= change.context.nowMs;
      if (!isOver) expire(change, keyId, ids, endsAt);
      const old = markReplaced.get(newId, change.context.nowMs, keyId);
      if (isOver) revoke(change, keyId, ids, { replaced_by: newId });
      else if (old !== null) {
        const details = { replaced_by: newId, expires_at: toRfc3339(old.expiresAt ?? endsAt) };
        changes.audit(toLineEntry(change, old, "key.replace", details));
      }
    },
  };
}
