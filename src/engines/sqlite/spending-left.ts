/** What a server that was killed had reserved, settled when the next one begins to serve the same directory. */
import type { Log } from "../../lib/log.ts";
import { DeliveryBell } from "../store-shared/scripts/told-events.ts";
import type { SqliteEngine } from "./engine.ts";
import { createEventWriter } from "./events.ts";
import { createSpendingLedger } from "./spending-ledger.ts";
import { createUsageWriter } from "./usage-writer.ts";

const leftPerCommit = 200;

/** All but voice sessions, which go on without a server. */
export async function settleLeftSpending(engine: SqliteEngine, nowMs: number, log: Log): Promise<void> {
  const select = engine.query<{ id: string }, [number]>(
    "SELECT id FROM spending_reservations WHERE is_voice = 0 ORDER BY due_at LIMIT ?",
  );
  const ledger = createSpendingLedger(engine, createUsageWriter(engine), createEventWriter(engine, new DeliveryBell()));
  for (;;) {
    const left = await engine.read(() => select.all(leftPerCommit));
    if (left.length === 0) return;
    const reached = await engine.write(() => left.flatMap(({ id }) => ledger.settleAtWorst(id, nowMs)));
    log.warn("calls of the server before are settled at their worst case", { calls: left.length });
    for (const { id: budgetId, ...budget } of reached) log.warn("budget reached", { budgetId, ...budget });
  }
}
