/** Whether a PostgreSQL server and its database can hold the store; each refusal is a sentence that says what to do. */
import { AppError } from "../../domain/errors.ts";
import type { Queries } from "./queries.ts";

/** 15, as PostgreSQL numbers itself. */
const oldestServer = 150_000;

export interface ServerFacts {
  /** As PostgreSQL tells it: `15.18`. */
  version: string;
  versionNumber: number;
  encoding: string;
  isReplica: boolean;
  canCreate: boolean;
  /** Whether this connection is encrypted. */
  isEncrypted: boolean;
  /** Connections that the server takes in all. */
  maxConnections: number;
  /** The database's clock minus ours, in milliseconds, within half a round trip. */
  clockOffsetMs: number;
  roundTripMs: number;
}

export async function readServerFacts(queries: Queries): Promise<ServerFacts> {
  const askedMs = Date.now();
  const startedMs = performance.now();
  const row = await queries.get<Omit<ServerFacts, "clockOffsetMs" | "roundTripMs"> & { nowMs: number }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS "versionNumber",
       current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS "isReplica",
       has_schema_privilege(current_schema(), 'CREATE') AS "canCreate",
       coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS "isEncrypted",
       current_setting('max_connections')::int AS "maxConnections",
       extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMs"`,
  );
  if (row === null) throw new Error("PostgreSQL told nothing of itself");
  const { nowMs, ...facts } = row;
  const roundTripMs = performance.now() - startedMs;
  return { ...facts, roundTripMs, clockOffsetMs: nowMs - (askedMs + roundTripMs / 2) };
}

/** Throws `unavailable` if the server cannot be used. */
export function requireFit({ version, versionNumber, encoding, isReplica }: ServerFacts): void {
  if (versionNumber < oldestServer) {
    throw refusal(`runs PostgreSQL ${version}; companiond needs 15 or later.`);
  }
  if (encoding !== "UTF8") {
    throw refusal(`stores text as ${encoding}. Create the database with ENCODING 'UTF8'.`);
  }
  if (isReplica) throw refusal("is a read-only replica. Give the address of the primary.");
}

export function refusal(what: string, cause?: unknown): AppError {
  return new AppError("unavailable", `The server of DATABASE_URL ${what}`, { cause });
}
