/** Asks a PostgreSQL server for what `doctor` judges, on one connection that it opens and closes. */

import type { DatabaseServerFacts, LiveInstance, StoredFacts } from "../../contracts/store/inspection.ts";
import { isBeforeFirstRelease, schemaAfter } from "../../contracts/store/schema-number.ts";
import { AppError } from "../../domain/errors.ts";
import { afterAnswerable } from "../../lib/deadline.ts";
import { hasSealed, hasSealedWords } from "../store-shared/rows/sealed-checks.ts";
import { explainConnectFailure, nameServer, readServerFacts } from "./connect-failure.ts";
import { connect } from "./connection.ts";
import { ownConnections } from "./coordination/coordination.ts";
import { type ClockSample, takeSample } from "./coordination/instance-clock.ts";
import { migrations } from "./migrations.ts";
import { type DriverQuery, type Parameter, Queries } from "./queries.ts";
import { findDifferences } from "./schema-objects.ts";
import { readSchemaState } from "./schema-state.ts";

const limitMs = 5000;
/** The quickest answer is the best measure of the network, and the least is in between for the clock to drift. */
const roundTrips = 5;

/** Rejects with `unavailable` and a sentence without the password, within 5 s if there is no answer. */
export async function inspectPostgres(url: string): Promise<DatabaseServerFacts> {
  const sql = connect({ url, max: 1, statementMs: limitMs });
  const queries = new Queries(
    (text, parameters) => sql.unsafe(text, parameters as Parameter[]) as unknown as DriverQuery,
  );
  const late = Promise.withResolvers<never>();
  const cancel = afterAnswerable(limitMs, () => late.reject(refusal(url, `did not answer within ${limitMs / 1000} s`)));
  try {
    return await Promise.race([readFacts(queries), late.promise]);
  } catch (error) {
    throw error instanceof AppError ? error : refusal(url, explainConnectFailure(error));
  } finally {
    cancel();
    void sql.close({ timeout: 0 }).catch(() => {});
  }
}

function refusal(url: string, what: string): AppError {
  return new AppError("unavailable", `DATABASE_URL: ${nameServer(url)} ${what}.`);
}

async function readFacts(queries: Queries): Promise<DatabaseServerFacts> {
  const server = await readServerFacts(queries);
  const { roundTripMs, clockOffsetMs } = await measureDistance(queries);
  const { isReadOnly, tls, mayCreate, ...connections } = await readLimits(queries);
  const state = await readSchemaState(queries);
  const facts = {
    version: server.version,
    isSupported: server.isSupported,
    encoding: server.encoding,
    roundTripMs,
    clockOffsetMs,
    tls,
    isReadOnly,
    mayCreate,
    connections: { ...connections, besidesPools: ownConnections },
  };
  const nothing = { instances: [], proof: null, hasSealed: false, hasSealedWords: false, hasStopBudgets: false };
  if (state === "other") return { ...facts, ...nothing, schema: "other" };
  if (state.version === 0) return { ...facts, ...nothing, schema: null };
  if (isBeforeFirstRelease(state.version)) return { ...facts, ...nothing, schema: "unreleased" };
  const known = schemaAfter(migrations.length);
  const schema = {
    applied: state.version,
    known,
    isReadable: state.oldestReader <= known,
    isUnfinishedCopy: state.copyFrom !== null,
    differences: state.version === known ? await findDifferences(queries) : { changed: [], added: [] },
  };
  // Of what a newer version has made, nothing is known.
  if (!schema.isReadable) return { ...facts, ...nothing, schema };
  return { ...facts, schema, instances: await listInstances(queries), ...(await readStored(queries)) };
}

async function readStored(queries: Queries): Promise<StoredFacts> {
  const row = await queries.get<StoredFacts>(
    `SELECT (SELECT sealed FROM server_secrets WHERE name = 'proof') AS proof,
       ${hasSealed} AS "hasSealed", ${hasSealedWords} AS "hasSealedWords",
       EXISTS (SELECT FROM budgets WHERE action = 'stop') AS "hasStopBudgets"`,
  );
  return row ?? { proof: null, hasSealed: false, hasSealedWords: false, hasStopBudgets: false };
}

async function measureDistance(queries: Queries): Promise<{ roundTripMs: number; clockOffsetMs: number }> {
  const samples: ClockSample[] = [];
  for (let count = 0; count < roundTrips; count++) samples.push(await takeSample((text) => queries.all(text)));
  const [quickest] = samples.sort((one, other) => one.roundTripMs - other.roundTripMs);
  return { roundTripMs: quickest?.roundTripMs ?? 0, clockOffsetMs: quickest?.offsetMs ?? 0 };
}

interface Limits {
  isReadOnly: boolean;
  tls: string | null;
  mayCreate: boolean;
  most: number;
  byOthers: number;
}

/** Of the limits of server, role and database, the one with the fewest connections left. */
const limitsQuery = `
  WITH others AS (
    SELECT datname, usename FROM pg_stat_activity
    WHERE datid IS NOT NULL AND pid <> pg_backend_pid()
      AND NOT (datname = current_database() AND application_name = 'companiond')
  ), limits (most, "byOthers") AS (
    SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
      (SELECT count(*)::int FROM others)
    UNION ALL
    SELECT rolconnlimit, (SELECT count(*)::int FROM others WHERE usename = current_user)
    FROM pg_roles WHERE rolname = current_user AND rolconnlimit >= 0
    UNION ALL
    SELECT datconnlimit, (SELECT count(*)::int FROM others WHERE datname = current_database())
    FROM pg_database WHERE datname = current_database() AND datconnlimit >= 0
  )
  SELECT most, "byOthers",
    pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean AS "isReadOnly",
    coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayCreate",
    (SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl) AS tls
  FROM limits ORDER BY most - "byOthers" LIMIT 1`;

async function readLimits(queries: Queries): Promise<Limits> {
  const limits = await queries.get<Limits>(limitsQuery);
  if (limits === null) throw new Error("PostgreSQL reported none of its limits");
  return limits;
}

async function listInstances(queries: Queries): Promise<LiveInstance[]> {
  // Where someone has removed it, that is to be reported, rather than a failure of the whole inspection.
  const known = await queries.get<{ isThere: boolean }>(
    `SELECT to_regprocedure('live_instances()') IS NOT NULL AS "isThere"`,
  );
  if (known?.isThere !== true) return [];
  return await queries.all<LiveInstance>(
    `SELECT i.version, i.shares_windows AS "sharesWindows", i.url FROM instances i
     WHERE i.number IN (SELECT live_instances()) ORDER BY i.number`,
  );
}
