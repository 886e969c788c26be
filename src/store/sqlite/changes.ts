/** What every change made by people also writes in its commit: the audit entry and the idempotent response. */
import { AppError } from "../../domain/errors.ts";
import type { AuditEntry } from "../contract/audit.ts";
import type { IdempotentWrite } from "../contract/idempotency.ts";
import type { WriteContext } from "../contract/write-context.ts";
import { createAccountNumberFinder } from "./account-number.ts";
import type { SqliteEngine } from "./engine.ts";
import type { HoldingsKeeper } from "./holdings.ts";

/** How long a response is stored for retries. */
export const idempotencyLifetimeMs = 24 * 60 * 60_000;

export interface Change {
  accountId: string;
  action: string;
  targetId: string | null;
  details: AuditEntry["details"];
}

export type ChangeRecorder = ReturnType<typeof createChangeRecorder>;

export function createChangeRecorder(engine: SqliteEngine, holdings: HoldingsKeeper) {
  const insertAudit = engine.query<
    null,
    [string, string, string, string | null, string | null, string | null, string, string | null, string, number]
  >(
    `INSERT INTO audit (id, account_id, actor_kind, actor_id, ip_prefix, request_id, action, target_id, details, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  // Overwrites the slot only if its response has expired: a live one belongs to a request that came first.
  const insertResponse = engine.query<null, [string, string, string, string, string, number, string, number, number]>(
    `INSERT INTO idempotency (account_id, method, path, key, body_hash, status, body, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET body_hash = excluded.body_hash, status = excluded.status, body = excluded.body,
       created_at = excluded.created_at WHERE created_at <= ?`,
  );

  const findAccountNumber = createAccountNumberFinder(engine);

  function audit(entry: AuditEntry): void {
    const { id, accountId, actor, action, targetId, details, createdAt } = entry;
    insertAudit.run(
      ...([id, accountId, actor.kind, actor.id, actor.ipPrefix, actor.requestId, action, targetId] as const),
      JSON.stringify(details),
      createdAt,
    );
  }

  function keepResponse({ slot, bodyHash, status, body }: IdempotentWrite, nowMs: number): void {
    const { accountId, method, path, key } = slot;
    const expiredMs = nowMs - idempotencyLifetimeMs;
    const changes = insertResponse.run(accountId, method, path, key, bodyHash, status, body, nowMs, expiredMs);
    if (changes > 0) return;
    throw new AppError(
      "conflict",
      "Another request with this Idempotency-Key came first. Send it again for its response.",
    );
  }

  return {
    audit,
    /** Call it inside the write, after the rows were changed. */
    record(context: WriteContext, change: Change): void {
      audit({ id: context.auditId, actor: context.actor, createdAt: context.nowMs, ...change });
      if (context.idempotent === undefined) return;
      keepResponse(context.idempotent, context.nowMs);
      holdings.checkNewResponse(context.idempotent.slot.accountId, context);
    },
    findAccountNumber,
    /** The account that a new row would belong to; it may have been deleted since the request was admitted. */
    requireAccount(accountId: string): number {
      const number = findAccountNumber(accountId);
      if (number === null) throw new AppError("not_found", "There is no such account.");
      return number;
    },
  };
}
