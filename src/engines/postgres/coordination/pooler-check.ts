/**
 * Whether a transaction pooler such as PgBouncer is between us and PostgreSQL. Behind one, each statement may run in
 * another session: a session's locks would belong to another client, and LISTEN would receive nothing.
 *
 * Such a pooler lends a client a server's session for a transaction at a time. So while another client is inside of a
 * transaction, our session either is the very one that it was lent (then both see the same process), or has been replaced
 * by another (then it is not the process that we had). With a session of our own it is neither, however often we check.
 */
import { refusal } from "../connect-failure.ts";
import type { OwnConnection, Pool } from "../pool.ts";
import type { Session } from "./session.ts";

/** A pooler that takes its sessions in turns may return our own to us once. */
const checks = 3;
const processStatement = "SELECT pg_backend_pid() AS pid";

/** Throws `unavailable` if it is. */
export async function requireDirect(session: Session, pool: Pool): Promise<void> {
  for (let check = 0; check < checks; check++) {
    const before = await readProcess(session);
    const other = await pool.reserve();
    try {
      const isShared = await pool.inTime(async () => {
        const theirs = await beginAndRead(other);
        // Asked only if it can answer: the one session there is may be lent to the other.
        const isLent = theirs === before || (await readProcess(session)) !== before;
        await other.send("ROLLBACK");
        return isLent;
      });
      if (isShared) throw poolerBetween();
    } finally {
      other.release();
    }
  }
}

export function poolerBetween(): Error {
  return refusal(
    "is a connection pooler that lends sessions for single transactions. Name PostgreSQL itself: sessions hold locks.",
  );
}

async function readProcess(session: Session): Promise<number> {
  const [row] = await session.ask<{ pid: number }>(processStatement);
  return row?.pid ?? 0;
}

async function beginAndRead(connection: OwnConnection): Promise<number> {
  await connection.send("BEGIN");
  const [row] = await connection.send(processStatement);
  return (row as { pid: number }).pid;
}
