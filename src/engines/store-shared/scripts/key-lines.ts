/** Lines of API keys, a key and all keys created from it: what ends with it, how, and what the audit log records. */
import type { EndedKey, NewApiKey, Replacement } from "../../../contracts/store/api-keys.ts";
import type { AuditEntry } from "../../../contracts/store/audit.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import type { ApiKey } from "../../../domain/account.ts";
import { AppError } from "../../../domain/errors.ts";
import { toRfc3339 } from "../../../lib/clock.ts";
import { changes } from "./changes.ts";
import { all, get, type Script } from "./script.ts";

interface KeyLineChange {
  accountId: string;
  accountNumber: number;
  context: WriteContext;
  makeAuditId: () => string;
}

/** A key of a line, revoked ones included. */
interface LineKey {
  id: string;
  createdByKeyId: string | null;
  expiresAt: number | null;
}

/**
 * The ids of the line that end with the key `keyId`, see `ApiKeyStore` on successors. `askerId`: the key that asks for
 * it, null for a person.
 */
export function listEnding(
  line: readonly LineKey[],
  { keyId, askerId, nowMs }: { keyId: string; askerId: string | null; nowMs: number },
): string[] {
  const root = line.find(({ id }) => id === keyId);
  if (root === undefined) return [];
  const sparesSuccessors = endOf(root) <= nowMs || line.some(({ id }) => id === askerId);
  if (!sparesSuccessors) return line.map(({ id }) => id);
  const madeBy = Map.groupBy(line, ({ createdByKeyId }) => createdByKeyId);
  const ending = [root];
  // The list grows during the loop.
  for (const maker of ending) {
    for (const key of madeBy.get(maker.id) ?? []) if (endOf(key) <= endOf(maker)) ending.push(key);
  }
  return ending.map(({ id }) => id);
}

/** Of a key that is revoked. */
export function toEnd(keyId: string, { actor, nowMs }: WriteContext) {
  return { keyId, askerId: actor.kind === "key" ? actor.id : null, nowMs };
}

function endOf({ expiresAt }: Pick<LineKey, "expiresAt">): number {
  return expiresAt ?? Number.POSITIVE_INFINITY;
}

function describe({ name, start, lastFour }: EndedKey) {
  return { name, start, last_four: lastFour };
}

/** Of a rotation. */
export interface MadeKeyFacts {
  replaces?: string;
  budgets_moved?: number;
}

export function describeMadeKey(made: ApiKey, more: MadeKeyFacts) {
  const details = { ...describe(made), scopes: [...made.scopes], ...more };
  return { accountId: made.accountId, action: "key.create", targetId: made.id, details };
}

function toLineEntry(
  { accountId, context, makeAuditId }: KeyLineChange,
  key: EndedKey,
  action: string,
  more: Record<string, string>,
): AuditEntry {
  const { actor, nowMs: createdAt } = context;
  const details = { ...describe(key), ...more };
  return { id: makeAuditId(), accountId, actor, action, targetId: key.id, details, createdAt };
}

/** The key itself first, then its line in the order in which it was created: databases return rows in any order. */
function sortLine(keys: readonly EndedKey[], keyId: string): EndedKey[] {
  const rank = ({ id }: EndedKey) => (id === keyId ? "" : id);
  return keys.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1));
}

/** Of keys that were revoked together; the first of them is the key itself. */
function toRevokeEntries(
  change: KeyLineChange,
  [root, ...others]: readonly EndedKey[],
  ofRoot: Record<string, string>,
): AuditEntry[] {
  if (root === undefined) return [];
  const withRoot = others.map((key) => toLineEntry(change, key, "key.revoke", { revoked_with: root.id }));
  return [toLineEntry(change, root, "key.revoke", ofRoot), ...withRoot];
}

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

/** The key that makes another may have ended since the request was admitted. */
export function* requireMaker(accountNumber: number, key: NewApiKey, nowMs: number): Script<void> {
  if (key.createdByKeyId === null) return;
  const maker = yield* get<Pick<LineKey, "expiresAt">>(selectExpiry, key.createdByKeyId, accountNumber);
  if (maker !== null && endOf(maker) > nowMs && endOf(maker) >= endOf(key)) return;
  throw new AppError(
    "conflict",
    "The API key of this request has been changed in the meantime. Send the request again.",
  );
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
