/** Keeps servers and `companiond copy` apart: each acquires its own lock first, and then checks for the other's. */
import { AppError } from "../../domain/errors.ts";
import type { Queries } from "./queries.ts";
import { readSchemaState } from "./schema-state.ts";

/** Held by a copy for as long as it reads from a database or writes to it. */
const copyLock = "hashtextextended('companiond copy', 0)";
/** How its connections call themselves. */
export const copyApplication = "companiond copy";

/** Throws `conflict` while a copy is at work, and if the database is the target of one that is not finished. */
export async function requireNoCopy(queries: Queries): Promise<void> {
  const lock = await queries.get<{ isFree: boolean }>(
    `SELECT pg_try_advisory_xact_lock_shared(${copyLock}) AS "isFree"`,
  );
  if (lock?.isFree === false) {
    throw new AppError("conflict", '"companiond copy" is at work on this database. Wait until it has ended.');
  }
  const state = await readSchemaState(queries);
  if (state === "other" || state.copyFrom === null) return;
  throw new AppError(
    "conflict",
    `The database is an unfinished copy of ${state.copyFrom}. Run the same "companiond copy" again, which goes on where ` +
      "it was, or give companiond an empty database.",
  );
}

/** Takes the lock for this session; false if another copy has it. */
export async function takeCopyLock(queries: Queries): Promise<boolean> {
  const lock = await queries.get<{ isTaken: boolean }>(`SELECT pg_try_advisory_lock(${copyLock}) AS "isTaken"`);
  return lock?.isTaken === true;
}

export async function releaseCopyLock(queries: Queries): Promise<void> {
  await queries.get(`SELECT pg_advisory_unlock(${copyLock})`);
}

/** Whether anything else of this program uses the database: a server, or a command that may write. */
export async function isInUse(queries: Queries): Promise<boolean> {
  // A lock also shows a server of another user, whose application this user may not see.
  const row = await queries.get<{ inUse: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
         AND application_name LIKE 'companiond%' AND application_name <> '${copyApplication}')
       OR EXISTS (SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE l.locktype = 'advisory'
         AND d.datname = current_database() AND l.pid <> pg_backend_pid()) AS "inUse"`,
  );
  return row?.inUse === true;
}
