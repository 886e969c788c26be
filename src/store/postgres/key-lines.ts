/** Ends the line of an API key: the key and all keys created from it. Call it inside a change of the account. */
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
import type { ChangeRecorder } from "./parts.ts";
import type { Queries } from "./queries.ts";

const selectExpiry = `SELECT expires_at::float8 AS "expiresAt" FROM api_keys
  WHERE id = $1 AND account_number = $2 AND revoked_at IS NULL`;
// Locked in the order in which uses are recorded: in another, it would be a deadlock.
const selectLine = `WITH RECURSIVE line (id) AS (
    SELECT id FROM api_keys WHERE id = $1 AND account_number = $2 AND revoked_at IS NULL
    UNION SELECT made.id FROM line JOIN api_keys made ON made.created_by_key_id = line.id)
  SELECT k.id, k.created_by_key_id AS "createdByKeyId", k.expires_at::float8 AS "expiresAt"
  FROM api_keys k WHERE k.id IN (SELECT id FROM line) ORDER BY k.id FOR NO KEY UPDATE OF k`;
const ended = 'RETURNING id, name, start, last_four AS "lastFour"';
const revokeLine = `UPDATE api_keys SET revoked_at = $2 WHERE id = ANY($1::text[]) AND revoked_at IS NULL ${ended}`;
// Keys that expire earlier keep their expiry.
const expireLine = `UPDATE api_keys SET expires_at = $2 WHERE id = ANY($1::text[]) AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > $2) ${ended}`;
const markReplaced = `UPDATE api_keys SET replaced_by_key_id = $2, replaced_at = $3 WHERE id = $1
  ${ended}, expires_at::float8 AS "expiresAt"`;

export function createKeyLines(changes: ChangeRecorder) {
  /** A key and its line, revoked ones included; empty if there is no such active key. */
  const select = (transaction: Queries, accountNumber: number, keyId: string) =>
    transaction.all<LineKey>(selectLine, [keyId, accountNumber]);

  /** `ids`: what ends with it. Resolves with what it revoked, the key itself first. */
  async function revoke(
    transaction: Queries,
    change: KeyLineChange,
    keyId: string,
    ids: readonly string[],
    ofRoot: Record<string, string> = {},
  ): Promise<EndedKey[]> {
    const rows = await transaction.all<EndedKey>(revokeLine, [ids, change.context.nowMs]);
    const revoked = sortLine(rows, keyId);
    await changes.audit(transaction, ...toRevokeEntries(change, revoked, ofRoot));
    return revoked;
  }

  async function expire(
    transaction: Queries,
    change: KeyLineChange,
    keyId: string,
    ids: readonly string[],
    endsAt: number,
  ): Promise<void> {
    const shortened = await transaction.all<EndedKey>(expireLine, [ids, endsAt]);
    const details = { expires_at: toRfc3339(endsAt), expires_with: keyId };
    const others = sortLine(shortened, keyId).filter(({ id }) => id !== keyId);
    await changes.audit(transaction, ...others.map((key) => toLineEntry(change, key, "key.expire", details)));
  }

  return {
    select,
    revoke,

    async requireMaker(transaction: Queries, accountNumber: number, key: NewApiKey, nowMs: number): Promise<void> {
      if (key.createdByKeyId === null) return;
      const of = [key.createdByKeyId, accountNumber];
      requireLastingMaker(await transaction.get<{ expiresAt: number | null }>(selectExpiry, of), key, nowMs);
    },

    /** Marks the old key, and ends it with `ids`. */
    async replace(
      transaction: Queries,
      change: KeyLineChange,
      { keyId, endsAt }: Replacement,
      ids: readonly string[],
      newId: string,
    ): Promise<void> {
      const { nowMs } = change.context;
      const isOver = endsAt <= nowMs;
      if (!isOver) await expire(transaction, change, keyId, ids, endsAt);
      const old = await transaction.get<EndedKey & { expiresAt: number | null }>(markReplaced, [keyId, newId, nowMs]);
      if (isOver) await revoke(transaction, change, keyId, ids, { replaced_by: newId });
      else if (old !== null) {
        const details = { replaced_by: newId, expires_at: toRfc3339(old.expiresAt ?? endsAt) };
        await changes.audit(transaction, toLineEntry(change, old, "key.replace", details));
      }
    },
  };
}
