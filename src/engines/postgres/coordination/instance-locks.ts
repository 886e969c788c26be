/**
 * The locks by which servers know of each other, held by a session of each: one by its number, which shows that it is
 * alive, and one that all share or one has alone, by whether they count rates together.
 */
import { AppError } from "../../../domain/errors.ts";
import type { Session } from "./session.ts";

/** Also in the function `live_instances`. The number is an instance's, or 0 for the lock of those that count together. */
const lockClass = 1_668_246_896;

export interface InstanceFacts {
  id: string;
  version: string;
  /** Whether it counts rates together with others. One that does not must be alone. */
  sharesWindows: boolean;
  /** Where others reach it; null if they cannot. */
  url: string | null;
  startedAtMs: number;
}

const askAgainMs = 200;

/** Waits `patienceMs` for its lock beside the others, then rejects with `conflict`. `onWait` is called if it has to. */
export async function joinOthers(
  session: Session,
  { sharesWindows, patienceMs, onWait }: { sharesWindows: boolean; patienceMs: number; onWait?: () => void },
): Promise<void> {
  const statement = sharesWindows
    ? `SELECT pg_try_advisory_lock_shared(${lockClass}, 0) AS "isFree"`
    : `SELECT pg_try_advisory_lock(${lockClass}, 0) AS "isFree"`;
  const untilMs = performance.now() + patienceMs;
  for (let isFirst = true; ; isFirst = false) {
    const [row] = await session.ask<{ isFree: boolean }>(statement);
    if (row?.isFree) return;
    if (performance.now() >= untilMs) throw new AppError("conflict", explainConflict(sharesWindows));
    if (isFirst) onWait?.();
    await Bun.sleep(askAgainMs);
  }
}

function explainConflict(sharesWindows: boolean): string {
  return sharesWindows
    ? "A companiond without REDIS_URL serves this database, and counts rates on its own. Give it the same REDIS_URL first."
    : "Another companiond serves this database. To run several, give all of them the same REDIS_URL, where they count rates.";
}

/** Puts the server on the list, and takes the lock of its number, which it returns. */
export async function register(session: Session, facts: InstanceFacts): Promise<number> {
  // One statement: a server that sees the row finds the lock held.
  const [row] = await session.ask<{ number: number }>(
    `WITH added AS (INSERT INTO instances (id, url, version, shares_windows, started_at)
       VALUES ($1, $2, $3, $4, $5) RETURNING number)
     SELECT number::float8 AS number, pg_advisory_lock(${lockClass}, number::integer) FROM added`,
    [facts.id, facts.url, facts.version, facts.sharesWindows, facts.startedAtMs],
  );
  if (row === undefined) throw new Error("PostgreSQL gave an instance no number");
  return row.number;
}

/** The same again for a session that replaces a lost one. */
export async function registerAgain(session: Session, number: number, facts: InstanceFacts): Promise<void> {
  // PostgreSQL may not have noticed yet that the other session is lost.
  await session.ask(
    `SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND classid = ${lockClass} AND objid = $1::bigint AND objsubid = 2 AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> pg_backend_pid()`,
    [number],
  );
  // Waits for the end of that session, whose other lock may be free a moment later.
  await session.ask(`SELECT pg_advisory_lock(${lockClass}, $1::integer)`, [number]);
  await joinOthers(session, { sharesWindows: facts.sharesWindows, patienceMs: 2 * askAgainMs });
  await session.ask(
    `INSERT INTO instances (number, id, url, version, shares_windows, started_at)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
    [number, facts.id, facts.url, facts.version, facts.sharesWindows, facts.startedAtMs],
  );
}
