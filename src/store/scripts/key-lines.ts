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
import { changes } from "./changes.ts";
import { all, get, type Script } from "./script.ts";

const selectExpiry = `SELECT expires_at AS "expiresAt" FROM api_keys
  WHERE id = $1 AND account_number = $2 AND revoked_at IS NULL`;
const ended = 'RETURNING id, name, start, last_four AS "lastFour"';

export const keyLineQueries = {
  // Locked in the order in which uses are recorded: in another, it would be a deadlock.
  select: `WITH RECURSIVE line (id) AS (
      SELECT id FROM api_keys WHERE id = $1 AND account_number = $2 AND revoked_at IS NULL
      UNION SELECT made.id FROM line JOIN api_keys made ON made.created_by_key_id = line.id)
    SELECT k.id, k.created_by_key_id AS "createdByKeyId", k.expires_at AS "expiresAt"
    FROM api_keys k WHERE k.id IN (SELECT id FROM line) ORDER BY k.id FOR NO KEY UPDATE OF k`,
  revoke: `UPDATE api_keys SET revoked_at = $2 WHERE id = ANY ($1::text[]) AND revoked_at IS NULL ${ended}`,
  // Keys that expire earlier keep their expiry.
  expire: `UPDATE api_keys SET expires_at = $2 WHERE id = ANY ($1::text[]) AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > $2) ${ended}`,
};
const markReplaced = `UPDATE api_keys SET replaced_by_key_id = $2, replaced_at = $3 WHERE id = $1
  ${ended}, expires_at AS "expiresAt"`;

export function* requireMaker(accountNumber: number, key: NewApiKey, nowMs: number): Script<void> {
  if (key.createdByKeyId === null) return;
  const maker = yield* get<{ expiresAt: number | null }>(selectExpiry, key.createdByKeyId, accountNumber);
  requireLastingMaker(maker, key, nowMs);
}

/** A key and its line, revoked ones included; empty if there is no such active key. */
export const selectLine = (accountNumber: number, keyId: string): Script<LineKey[]> =>
  all<LineKey>(keyLineQueries.select, keyId, accountNumber);

/** `ids`: what ends with it. Returns what it revoked, the key itself first. */
export function* revokeLine(
  change: KeyLineChange,
  keyId: string,
  ids: readonly string[],
  ofRoot: Record<string, string> = {},
): Script<EndedKey[]> {
  const revoked = sortLine(yield* all<EndedKey>(keyLineQueries.revoke, ids, change.context.nowMs), keyId);
  yield* changes.audit(...toRevokeEntries(change, revoked, ofRoot));
  return revoked;
}

function* expire(change: KeyLineChange, keyId: string, ids: readonly string[], endsAt: number): Script<void> {
  const shortened = yield* all<EndedKey>(keyLineQueries.expire, ids, endsAt);
  const details = { expires_at: toRfc3339(endsAt), expires_with: keyId };
  const others = sortLine(shortened, keyId).filter(({ id }) => id !== keyId);
  yield* changes.audit(...others.map((key) => toLineEntry(change, key, "key.expire", details)));
}

/** Marks the old key, and ends it with `ids`. */
export function* replaceInLine(
  change: KeyLineChange,
  { keyId, endsAt }: Replacement,
  ids: readonly string[],
  newId: string,
): Script<void> {
  const { nowMs } = change.context;
  const isOver = endsAt <= nowMs;
  if (!isOver) yield* expire(change, keyId, ids, endsAt);
  const old = yield* get<EndedKey & { expiresAt: number | null }>(markReplaced, keyId, newId, nowMs);
  if (isOver) yield* revokeLine(change, keyId, ids, { replaced_by: newId });
  else if (old !== null) {
    const details = { replaced_by: newId, expires_at: toRfc3339(old.expiresAt ?? endsAt) };
    yield* changes.audit(toLineEntry(change, old, "key.replace", details));
  }
}
