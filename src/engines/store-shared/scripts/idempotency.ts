/** Recorded responses of retried calls; `changes.ts` writes them. */
import type { IdempotencyStore, IdempotentResponse } from "../../../contracts/store/idempotency.ts";
import { idempotencyLifetimeMs } from "../rows/bounds.ts";
import { all, get, lockRows, run, type ScriptRunner } from "./script.ts";

const selectResponse = `SELECT body_hash AS "bodyHash", status, body FROM idempotency
  WHERE account_id = $1 AND method = $2 AND path = $3 AND key = $4 AND created_at > $5`;
const selectAccounts = `SELECT DISTINCT account_id AS id FROM
  (SELECT account_id FROM idempotency WHERE created_at <= $1 ORDER BY created_at LIMIT $2) AS expired`;
const lockHoldings = `SELECT 1 FROM account_holdings WHERE account_id = ANY ($1::text[])
  ORDER BY account_id FOR NO KEY UPDATE`;
const deleteExpired = `DELETE FROM idempotency WHERE (account_id, method, path, key) IN
  (SELECT account_id, method, path, key FROM idempotency WHERE created_at <= $2 AND account_id = ANY ($1::text[])
   ORDER BY created_at LIMIT $3 FOR UPDATE SKIP LOCKED)`;

export function createIdempotencyStore(scripts: ScriptRunner): IdempotencyStore {
  return {
    find: ({ accountId, method, path, key }, nowMs) =>
      scripts.read(() =>
        get<IdempotentResponse>(selectResponse, accountId, method, path, key, nowMs - idempotencyLifetimeMs),
      ),

    purge: (nowMs, limit) =>
      scripts.writeHeavy(function* () {
        const expiredAt = nowMs - idempotencyLifetimeMs;
        const ids = (yield* all<{ id: string }>(selectAccounts, expiredAt, limit)).map(({ id }) => id);
        if (ids.length === 0) return 0;
        // The trigger that counts responses would lock the accounts' rows in the order of the responses, and a purge
        // at another server in another: a deadlock.
        yield* lockRows(lockHoldings, ids);
        return yield* run(deleteExpired, ids, expiredAt, limit);
      }),
  };
}
