/** Asks a server for `doctor`: how it is, what is in the database, and who works with it. */
import type { DatabaseServerFacts, LiveInstance } from "../contract/inspection.ts";
import { applicationName, connect } from "./connection.ts";
import { ownConnections } from "./coordination/coordination.ts";
import { type ClockSample, takeSample } from "./coordination/instance-clock.ts";
import { readServerFacts } from "./fitness.ts";
import { migrations } from "./migrations.ts";
import { otherTables } from "./migrator.ts";
import { Pool } from "./pool.ts";
import type { Queries } from "./queries.ts";
import { readSchemaState } from "./schema-state.ts";
import { explainStartFailure } from "./start-failures.ts";

const inspectionMs = 5_000;
const clockSamples = 3;

interface Surroundings {
  tls: string | null;
  isReadOnly: boolean;
  mayCreate: boolean;
  most: number;
  byOthers: number;
}

/** Rejects with `unavailable` and a sentence if no answer comes within 5 s. */
export async function inspectServer(url: string): Promise<DatabaseServerFacts> {
  const pool = new Pool({
    connect: () => connect({ url, max: 1, statementMs: inspectionMs }),
    deadlineMs: inspectionMs,
  });
  try {
    return await pool.inTime(() => inspect(pool.reads), inspectionMs);
  } catch (error) {
    throw explainStartFailure(error);
  } finally {
    await pool.close();
  }
}

async function inspect(queries: Queries): Promise<DatabaseServerFacts> {
  const { version, isSupported, encoding } = await readServerFacts(queries);
  const { most, byOthers, ...surroundings } = await readSurroundings(queries);
  const state = await readSchemaState(queries);
  if (state === "other") throw otherTables();
  const schema =
    state.version === 0
      ? null
      : { applied: state.version, known: migrations.length, isReadable: state.oldestReader <= migrations.length };
  return {
    version,
    isSupported,
    encoding,
    ...surroundings,
    ...(await measureClock(queries)),
    connections: { most, byOthers, besidesPools: ownConnections },
    schema,
    ...(schema === null ? { instances: [], proof: null } : await readContent(queries)),
  };
}

async function readSurroundings(queries: Queries): Promise<Surroundings> {
  const row = await queries.get<Surroundings>(
    `SELECT (SELECT s.version FROM pg_stat_ssl s WHERE s.pid = pg_backend_pid() AND s.ssl) AS tls,
       pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS "isReadOnly",
       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayCreate",
       least(
         current_setting('max_connections')::int
           - CASE WHEN r.rolsuper THEN 0 ELSE current_setting('superuser_reserved_connections')::int END,
         nullif(r.rolconnlimit, -1), nullif(d.datconnlimit, -1)
       ) AS most,
       (SELECT count(*)::int FROM pg_stat_activity a
        WHERE a.backend_type = 'client backend' AND a.pid <> pg_backend_pid() AND a.application_name <> $1) AS "byOthers"
     FROM pg_roles r, pg_database d WHERE r.rolname = current_user AND d.datname = current_database()`,
    [applicationName],
  );
  if (row === null) throw new Error("PostgreSQL does not know who asks");
  return row;
}

/** Of the quickest answer. */
async function measureClock(queries: Queries): Promise<{ roundTripMs: number; clockOffsetMs: number }> {
  const samples: ClockSample[] = [];
  for (let i = 0; i < clockSamples; i++) samples.push(await takeSample((text) => queries.all(text)));
  const [best] = samples.sort((one, other) => one.roundTripMs - other.roundTripMs);
  return { roundTripMs: best?.roundTripMs ?? 0, clockOffsetMs: best?.offsetMs ?? 0 };
}

async function readContent(queries: Queries): Promise<{ instances: LiveInstance[]; proof: string | null }> {
  const instances = await queries.all<LiveInstance>(
    `SELECT i.version, i.shares_windows AS "sharesWindows" FROM instances i
     WHERE i.number IN (SELECT live_instances()) ORDER BY i.number`,
  );
  const row = await queries.get<{ sealed: string }>("SELECT sealed FROM server_secrets WHERE name = 'proof'");
  return { instances, proof: row?.sealed ?? null };
}
