/** Recorded responses of retried calls in SQLite; `changes.ts` writes them. */
import { and, eq, gt } from "drizzle-orm";
import type { IdempotencyStore } from "../contract/idempotency.ts";
import { idempotencyLifetimeMs } from "../rows/bounds.ts";
import type { SqliteEngine } from "./engine.ts";
import { idempotency } from "./schema/clustered.ts";

export function createIdempotencyStore(engine: SqliteEngine): IdempotencyStore {
  const purge = engine.query<null, [number, number]>(
    `DELETE FROM idempotency WHERE (account_id, method, path, key) IN
       (SELECT account_id, method, path, key FROM idempotency WHERE created_at <= ? ORDER BY created_at LIMIT ?)`,
  );

  return {
    find: (slot, nowMs) =>
      engine.read(() => {
        const isSlot = and(
          eq(idempotency.accountId, slot.accountId),
          eq(idempotency.method, slot.method),
          eq(idempotency.path, slot.path),
          eq(idempotency.key, slot.key),
          gt(idempotency.createdAt, nowMs - idempotencyLifetimeMs),
        );
        const { bodyHash, status, body } = idempotency;
        return engine.orm.select({ bodyHash, status, body }).from(idempotency).where(isSlot).get() ?? null;
      }),

    purge: (nowMs, limit) => engine.write(() => purge.run(nowMs - idempotencyLifetimeMs, limit)),
  };
}
