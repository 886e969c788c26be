/** What every change made by people also writes in its commit: the audit entry and the idempotent response. */
import type { AuditEntry } from "../contract/audit.ts";
import type { IdempotentWrite } from "../contract/idempotency.ts";
import type { WriteContext } from "../contract/write-context.ts";
import { idempotencyLifetimeMs } from "../rows/bounds.ts";
import { type Change, toAuditRow } from "../rows/changes.ts";
import { answeredMeanwhile, noSuchAccount } from "../rows/refusals.ts";
import type { HoldingsKeeper } from "./holdings.ts";
import type { Queries } from "./queries.ts";
import { mapColumns } from "./rows/columns.ts";
import { audit as auditTable, idempotency } from "./schema/accounts.ts";

export type ChangeRecorder = ReturnType<typeof createChangeRecorder>;

const auditColumns = mapColumns(auditTable);
const responseColumns = mapColumns(idempotency);
// Overwrites the slot only if its response has expired: a live one belongs to a request that came first.
const keepResponse = `ON CONFLICT (account_id, method, path, key) DO UPDATE SET body_hash = excluded.body_hash,
  status = excluded.status, body = excluded.body, created_at = excluded.created_at
  WHERE idempotency.created_at <= $1 RETURNING 1 AS written`;

/** Call all of it inside a write, with its transaction. */
export function createChangeRecorder(holdings: HoldingsKeeper) {
  async function audit(transaction: Queries, ...entries: AuditEntry[]): Promise<void> {
    if (entries.length > 0) await auditColumns.insertMany(transaction, entries.map(toAuditRow));
  }

  async function keep(transaction: Queries, { slot, ...response }: IdempotentWrite, nowMs: number): Promise<void> {
    const row = { ...slot, ...response, createdAt: nowMs };
    const written = await responseColumns.insert(transaction, [row], keepResponse, [nowMs - idempotencyLifetimeMs]);
    if (written.length > 0) return;
    throw answeredMeanwhile();
  }

  async function findAccountNumber(transaction: Queries, accountId: string): Promise<number | null> {
    const row = await transaction.get<{ number: number }>(
      "SELECT number::float8 AS number FROM accounts WHERE id = $1",
      [accountId],
    );
    return row?.number ?? null;
  }

  return {
    audit,
    /** Call it after the rows were changed; null if nothing has changed. */
    async record(transaction: Queries, context: WriteContext, change: Change | null): Promise<void> {
      if (change !== null) {
        await audit(transaction, { id: context.auditId, actor: context.actor, createdAt: context.nowMs, ...change });
      }
      if (context.idempotent === undefined) return;
      await keep(transaction, context.idempotent, context.nowMs);
      await holdings.checkNewResponse(transaction, context.idempotent.slot.accountId, context);
    },
    findAccountNumber,
    /** The account that a new row would belong to; it may have been deleted since the request was admitted. */
    async requireAccount(transaction: Queries, accountId: string): Promise<number> {
      const number = await findAccountNumber(transaction, accountId);
      if (number === null) throw noSuchAccount();
      return number;
    },
  };
}
