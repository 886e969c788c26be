/** Whether a PostgreSQL server and its database can hold the store; each refusal is a sentence that says what to do. */
import { AppError } from "../../domain/errors.ts";
import type { Queries } from "./queries.ts";

/** 15, as PostgreSQL numbers itself. */
const oldestServer = 150_000;

export interface ServerFacts {
  /** As PostgreSQL tells it: `15.18`. */
  version: string;
  isSupported: boolean;
  encoding: string;
  isReplica: boolean;
}

export async function readServerFacts(queries: Pick<Queries, "get">): Promise<ServerFacts> {
  const facts = await queries.get<ServerFacts>(
    `SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
       current_setting('server_version_num')::int >= ${oldestServer} AS "isSupported",
       current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS "isReplica"`,
  );
  if (facts === null) throw new Error("PostgreSQL told nothing of itself");
  return facts;
}

/** Throws `unavailable` if the server cannot be used. */
export function requireFit({ version, isSupported, encoding, isReplica }: ServerFacts): void {
  if (!isSupported) {
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
