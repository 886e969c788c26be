/** One write transaction, and its outcome if its connection was lost during the commit. */
import { lockStatement } from "../store-shared/scripts/script.ts";
import { isLostConnection, unavailable } from "./failures.ts";
import type { OwnConnection, Pool } from "./pool.ts";
import { Queries } from "./queries.ts";

export class Transaction extends Queries {
  readonly #afterCommit: (() => void)[] = [];

  /** Called once it is on disk; not if it is undone. */
  afterCommit(call: () => void): void {
    this.#afterCommit.push(call);
  }

  /** For the one that has committed it. */
  noteCommit(): void {
    for (const call of this.#afterCommit) call();
  }

  /** Waits until no other transaction holds this lock, which ends with the transaction. */
  async lock(name: string): Promise<void> {
    await this.run(lockStatement, [name]);
  }
}

/** The number by which the outcome can be asked for later; and regardless of the server's default, a commit is on disk. */
const beginStatement = `SELECT pg_current_xact_id()::text AS id,
  CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN set_config('synchronous_commit', 'on', true) END`;

/** How long to ask for the outcome of a commit. */
const outcomeMs = 5_000;
const askAgainMs = 100;

/** Runs `work` in a transaction, which is on disk when this resolves. Rejects with the driver's own errors. */
export async function transact<T>(pool: Pool, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const connection = await pool.reserve();
  // Work that goes on after its time is up must touch the connection no more: others may have it by then.
  let isOver = false;
  const transaction = new Transaction((text, parameters) => {
    if (!isOver) return connection.send(text, parameters);
    return Promise.reject(unavailable(new Error("the transaction has ended")));
  });
  let isClean = false;
  try {
    return await pool.inTime(async () => {
      const [, [begun]] = await Promise.all([connection.send("BEGIN READ WRITE"), connection.send(beginStatement)]);
      const { id } = begun as { id: string };
      try {
        const result = await work(transaction);
        if (isOver) throw unavailable(new Error("the transaction has ended"));
        await commit(pool, connection, id);
        isClean = true;
        transaction.noteCommit();
        return result;
      } catch (error) {
        // A lost connection has rolled back already.
        if (!isOver && !isLostConnection(error)) await connection.send("ROLLBACK");
        isClean = !isOver;
        throw error;
      }
    });
  } finally {
    isOver = true;
    if (isClean) connection.release();
    // Behind what still runs on it; no one else gets the connection before.
    else void rollBack(connection).finally(() => connection.release());
  }
}

async function rollBack(connection: OwnConnection): Promise<void> {
  try {
    await connection.send("ROLLBACK");
  } catch {
    // It was lost, and has rolled back.
  }
}

async function commit(pool: Pool, connection: OwnConnection, id: string): Promise<void> {
  try {
    await connection.send("COMMIT");
  } catch (error) {
    if (!isLostConnection(error)) throw error;
    if (!(await wasCommitted(pool, id))) throw error;
  }
}

/** Asks on another connection. Rejects with `unavailable` if the outcome is not known in time. */
async function wasCommitted(pool: Pool, id: string): Promise<boolean> {
  const deadlineMs = performance.now() + outcomeMs;
  for (;;) {
    try {
      const row = await pool.reads.get<{ status: string | null }>("SELECT pg_xact_status($1::text::xid8) AS status", [
        id,
      ]);
      if (row?.status === "committed") return true;
      if (row?.status === "aborted") return false;
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
    }
    if (performance.now() > deadlineMs) throw unavailable(new Error("the outcome of a commit is unknown"));
    await Bun.sleep(askAgainMs);
  }
}
