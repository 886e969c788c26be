/** How we connect to PostgreSQL. */
import { SQL } from "bun";

/** As operators set it. */
export interface PostgresOptions {
  /** `postgres://…` */
  url: string;
  /** The most connections for requests. */
  pool: number;
  /** The most connections for what takes long. */
  poolHeavy: number;
}

export interface ConnectionOptions {
  /** `postgres://…`; its parameters decide about TLS. */
  url: string;
  /** The maximum number of open connections. */
  max: number;
  /** After this long the server itself gives up a statement. */
  statementMs: number;
  /** Whether each statement is planned once, and never reads a whole table where an index serves. */
  hasFixedPlans?: boolean;
  /** What the server's own views call the connection. */
  application?: string;
  /** After this long without a statement the server ends the session. */
  idleSessionMs?: number;
  /** A connection has ended, from either side. */
  onClose?: () => void;
}

export const applicationName = "companiond";

/** How long the server waits for a lock. */
const lockMs = 4_500;
const connectSeconds = 5;
/**
 * Plans are made once for each connection, perhaps when the tables were still empty. Planning takes longer than most
 * lookups; and by its own estimates PostgreSQL would plan those of several keys again each time.
 */
const fixedPlans = { plan_cache_mode: "force_generic_plan", enable_seqscan: "off" };

export function connect({
  url,
  max,
  statementMs,
  hasFixedPlans = false,
  application = applicationName,
  idleSessionMs = 0,
  onClose,
}: ConnectionOptions): SQL {
  const settings = {
    application_name: application,
    statement_timeout: String(statementMs),
    lock_timeout: String(Math.min(lockMs, statementMs)),
    idle_in_transaction_session_timeout: "30000",
    // Regardless of the database's default: a transaction that waited for a lock must see what was committed meanwhile.
    default_transaction_isolation: "read committed",
    idle_session_timeout: String(idleSessionMs),
    // Numbers and times come as text: all of their digits.
    extra_float_digits: "1",
    // A server that lost contact must not keep its locks: keepalives notice an idle connection, the timeout a busy one.
    tcp_user_timeout: "5000",
    tcp_keepalives_idle: "2",
    tcp_keepalives_interval: "1",
    tcp_keepalives_count: "3",
    // Compiling takes longer than any of our statements gains by it.
    jit: "off",
    ...(hasFixedPlans ? fixedPlans : {}),
  };
  return new SQL({
    url,
    // Of the URL, not of PGDATABASE.
    database: decodeURIComponent(new URL(url).pathname.slice(1)),
    max,
    idleTimeout: 0,
    maxLifetime: 0,
    connectionTimeout: connectSeconds,
    connection: settings,
    ...(onClose === undefined ? {} : { onclose: () => onClose() }),
  });
}
