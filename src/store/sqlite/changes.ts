/** What every change made by people also writes in its commit: the audit entry and the idempotent response. */
import type { AuditEntry } from "../contract/audit.ts";
import type { IdempotentWrite } from "../contract/idempotency.ts";
import type { WriteContext } from "../contract/write-context.ts";
import { idempotencyLifetimeMs } from "../rows/bounds.ts";
import { type Change, toAuditRow } from "../rows/changes.ts";
import { answeredMeanwhile, noSuchAccount } from "../rows/refusals.ts";
import { createAccountNumberFinder } from "./account-number.ts";
import type { SqliteEngine } from "./engine.ts";
import type { HoldingsKeeper } from "./holdings.ts";
import { mapColumns } from "./rows/columns.ts";
import { audit as auditTable } from "./schema/accounts.ts";
import { idempotency } from "./schema/clustered.ts";

export type ChangeRecorder = ReturnType<typeof createChangeRecorder>;

export function createChangeRecorder(engine: SqliteEngine, holdings: HoldingsKeeper) {
  const insertAudit = mapColumns(auditTable).createInsert(engine);
  // Overwrites the slot only if its response has expired: a live one belongs to a request that came first.
  const insertResponse = mapColumns(idempotency).createInsert<{ written: number }>(
    engine,
    `ON CONFLICT DO UPDATE SET body_hash = excluded.body_hash, status = excluded.status, body = excluded.body,
       created_at = excluded.created_at WHERE created_at <= ? RETURNING 1 AS written`,
  );
  const findAccountNumber = createAccountNumberFinder(engine);

  const audit = (entry: AuditEntry): void => void insertAudit(toAuditRow(entry));

  function keepResponse({ slot, bodyHash, status, body }: IdempotentWrite, nowMs: number): void {
    const response = { ...slot, bodyHash, status, body, createdAt: nowMs };
    if (insertResponse(response, nowMs - idempotencyLifetimeMs) !== null) return;
    throw answeredMeanwhile();
  }

  return {
    audit,
    /** Call it inside the write, after the rows were changed; null if nothing has changed. */
    record(context: WriteContext, change: Change | null): void {
      if (change !== null) audit({ id: context.auditId, actor: context.actor, createdAt: context.nowMs, ...change });
      if (context.idempotent === undefined) return;
      keepResponse(context.idempotent, context.nowMs);
      holdings.checkNewResponse(context.idempotent.slot.accountId, context);
    },
    findAccountNumber,
    /** The account that a new row would belong to; it may have been deleted since the request was admitted. */
    requireAccount(accountId: string): number {
      const number = findAccountNumber(accountId);
      if (number === null) throw noSuchAccount();
      return number;
    },
  };
}
