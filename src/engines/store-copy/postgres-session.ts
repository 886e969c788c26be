/** A stopped PostgreSQL store: one connection that holds the lock of the copy, and does all of its work. */
import { AppError } from "../../domain/errors.ts";
import { explainConnectFailure } from "../postgres/connect-failure.ts";
import { connect } from "../postgres/connection.ts";
import { copyApplication, isInUse, releaseCopyLock, takeCopyLock } from "../postgres/copy-guard.ts";
import { readServerFacts, requireFit } from "../postgres/fitness.ts";
import { Pool } from "../postgres/pool.ts";
import { Queries } from "../postgres/queries.ts";

export interface PostgresSession {
  /** `postgres://HOST/DATABASE`. */
  name: string;
  /** All on one connection. */
  queries: Queries;
  /** For work on another connection meanwhile. */
  pool: Pool;
  close(): Promise<void>;
}

/** For a page of rows, and for `ANALYZE` of the largest table. */
const statementMs = 10 * 60_000;
const connectMs = 10_000;
/** The system may take a moment to end a server, or a copy, that was killed. */
const othersLeaveMs = 3_000;

/** Rejects with `unavailable` if the server cannot be used, and with `conflict` while others use the database. */
export async function openPostgresSession(url: string): Promise<PostgresSession> {
  const open = () => connect({ url, max: 2, statementMs, application: copyApplication, hasFixedPlans: true });
  const pool = new Pool({ connect: open, deadlineMs: statementMs + 10_000 });
  try {
    const connection = await pool.inTime(() => pool.reserve(), connectMs);
    const queries = new Queries((text, parameters) => pool.inTime(() => connection.send(text, parameters)));
    requireFit(await readServerFacts(queries));
    await waitAlone(queries);
    return { name: nameOf(url), queries, pool, close: () => closeSession(pool, queries) };
  } catch (error) {
    await pool.close();
    throw explain(error, nameOf(url));
  }
}

/** The server ends a closed connection a moment later, and whoever is started next would still find its lock. */
async function closeSession(pool: Pool, queries: Queries): Promise<void> {
  // Where the connection is broken, the lock goes with it.
  await releaseCopyLock(queries).catch(() => {});
  await pool.close();
}

async function waitAlone(queries: Queries): Promise<void> {
  const untilMs = performance.now() + othersLeaveMs;
  while (!(await takeCopyLock(queries))) {
    if (performance.now() > untilMs) throw inUse("another copy");
    await Bun.sleep(100);
  }
  while (await isInUse(queries)) {
    if (performance.now() > untilMs) throw inUse("a server or a command of companiond");
    await Bun.sleep(100);
  }
}

function inUse(who: string): AppError {
  return new AppError("conflict", `The database in PostgreSQL is in use by ${who}. Stop it first.`);
}

/** Without user and password. */
function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

function explain(error: unknown, name: string): unknown {
  if (error instanceof AppError && (error.code !== "unavailable" || error.cause === undefined)) return error;
  const cause = error instanceof AppError ? error.cause : error;
  return new AppError("unavailable", `${name} ${explainConnectFailure(cause)}.`);
}
