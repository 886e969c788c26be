/** Ends the line of an API key: the key and all keys created from it. Call it inside a write. */
import { AppError, invalidFields } from "../../domain/errors.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import type { EndedKey, NewApiKey, Replacement } from "../contract/api-keys.ts";
import type { WriteContext } from "../contract/write-context.ts";
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

export interface KeyLineChange {
  accountId: string;
  accountNumber: number;
  context: WriteContext;
  makeAuditId: () => string;
}

export function createKeyLines(engine: SqliteEngine, changes: ChangeRecorder) {
  const selectExpiry = engine.query<{ expires_at: number | null }, [string, number]>(
    "SELECT expires_at FROM api_keys WHERE id = ? AND account_number = ? AND revoked_at IS NULL",
  );
  const selectLine = engine.query<{ id: string }, [string, number]>(keyLineQueries.select);
  const revokeLine = engine.query<EndedKey, [string, number, number]>(keyLineQueries.revoke);
  const expireLine = engine.query<EndedKey, [string, number, number, number]>(keyLineQueries.expire);
  const markReplaced = engine.query<EndedKey & { expiresAt: number | null }, [string, number, string]>(
    `UPDATE api_keys SET replaced_by_key_id = ?, replaced_at = ? WHERE id = ? ${ended}, expires_at AS expiresAt`,
  );

  function audit(change: KeyLineChange, key: EndedKey, action: string, more: Record<string, string>): void {
    const { accountId, context, makeAuditId } = change;
    const { actor, nowMs: createdAt } = context;
    const details = { name: key.name, start: key.start, last_four: key.lastFour, ...more };
    changes.audit({ id: makeAuditId(), accountId, actor, action, targetId: key.id, details, createdAt });
  }

  /** The key itself comes first. */
  function revoke(change: KeyLineChange, keyId: string, ofRoot: Record<string, string> = {}): EndedKey[] {
    const revoked = revokeLine.all(keyId, change.accountNumber, change.context.nowMs);
    revoked.sort((a, b) => Number(b.id === keyId) - Number(a.id === keyId));
    for (const key of revoked) audit(change, key, "key.revoke", key.id === keyId ? ofRoot : { revoked_with: keyId });
    return revoked;
  }

  /** Keys that expire earlier keep their expiry. */
  function expire(change: KeyLineChange, keyId: string, endsAt: number): void {
    const shortened = expireLine.all(keyId, change.accountNumber, endsAt, endsAt);
    const details = { expires_at: toRfc3339(endsAt), expires_with: keyId };
    for (const key of shortened) if (key.id !== keyId) audit(change, key, "key.expire", details);
  }

  return {
    revoke,

    /** The creating key may have been revoked, or given an earlier end, since the request was admitted. */
    requireMaker(accountNumber: number, { createdByKeyId, expiresAt }: NewApiKey, nowMs: number): void {
      if (createdByKeyId === null) return;
      const maker = selectExpiry.get(createdByKeyId, accountNumber);
      const endsAt = maker === null ? nowMs : (maker.expires_at ?? Number.POSITIVE_INFINITY);
      if (endsAt > nowMs && endsAt >= (expiresAt ?? Number.POSITIVE_INFINITY)) return;
      throw new AppError(
        "conflict",
        "The API key of this request has been changed in the meantime. Send the request again.",
      );
    },

    /** Whether the creating key may replace the old key. */
    requireReplaceable(accountNumber: number, old: Replacement, { createdByKeyId }: NewApiKey): void {
      const ids = selectLine.all(old.keyId, accountNumber).map(({ id }) => id);
      if (ids.length === 0) {
        throw invalidFields([{ param: "replaces", detail: "There is no such active API key." }]);
      }
      if (createdByKeyId === null || !ids.includes(createdByKeyId)) return;
      const detail =
        "An API key cannot replace itself or a key that it was created from: the new key would end with it.";
      throw invalidFields([{ param: "replaces", detail }]);
    },

    /** Marks the old key, and ends it with its line. */
    replace(change: KeyLineChange, { keyId, endsAt }: Replacement, newId: string): void {
      const isOver = endsAt <= change.context.nowMs;
      if (!isOver) expire(change, keyId, endsAt);
      const old = markReplaced.get(newId, change.context.nowMs, keyId);
      if (isOver) revoke(change, keyId, { replaced_by: newId });
      else if (old !== null) {
        audit(change, old, "key.replace", { replaced_by: newId, expires_at: toRfc3339(old.expiresAt ?? endsAt) });
      }
    },
  };
}
