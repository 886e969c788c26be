/**
 * Databases of a PostgreSQL server for tests. The gate starts one server for all its test files and names it in
 * `COMPANIOND_TEST_POSTGRES`.
 */
import { SQL } from "bun";

export interface Database {
  name: string;
  url: string;
}

export interface PostgresDatabases {
  /** `postgres://user@host:port/database`; the user is a superuser without a password. */
  url(database: string): string;
  /** An empty database under a name of its own, or a copy of the template, which no one may be connected to. */
  createDatabase(template?: string): Promise<Database>;
  /** The database of this name; the first call, of all processes, creates it from the template, or fills it. */
  provideDatabase(name: string, source: DatabaseSource): Promise<Database>;
  /** Also ends the connections to it. Nothing happens if there is none of this name. */
  dropDatabase(name: string): Promise<void>;
}

export type DatabaseSource = { template: string } | { fill(database: Database): Promise<void> };

/** `serverUrl` has no path. */
export function databasesOf(serverUrl: string): PostgresDatabases {
  const url = (database: string) => `${serverUrl}/${database}`;
  const run = (statement: string) => runStatement(url("postgres"), statement);
  return {
    url,
    async createDatabase(template = "template0") {
      const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
      await run(createStatement(name, template));
      return { name, url: url(name) };
    },
    async provideDatabase(name, source) {
      const database = { name, url: url(name) };
      await using admin = new SQL(url("postgres"), { max: 1 });
      // Held by this connection, and gone with it.
      await admin`SELECT pg_advisory_lock(hashtext(${name}))`;
      const [existing] = await admin`SELECT 1 FROM pg_database WHERE datname = ${name}`;
      if (existing !== undefined) return database;
      if ("template" in source) {
        await admin.unsafe(createStatement(name, source.template));
        return database;
      }
      const unfilled = `${name}_unfilled`;
      await admin.unsafe(`DROP DATABASE IF EXISTS ${unfilled} WITH (FORCE)`);
      await admin.unsafe(createStatement(unfilled, "template0"));
      await source.fill({ name: unfilled, url: url(unfilled) });
      await admin.unsafe(`ALTER DATABASE ${unfilled} RENAME TO ${name}`);
      return database;
    },
    async dropDatabase(name) {
      await run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/** Copied as files, which takes half the time of copying through the log. */
function createStatement(name: string, template: string): string {
  return `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`;
}

async function runStatement(url: string, statement: string): Promise<void> {
  await queryRows(url, statement);
}

/** On a connection of its own, which a server that was restarted in between does not break. */
export async function queryRows<Row>(url: string, statement: string): Promise<Row[]> {
  await using sql = new SQL(url, { max: 1 });
  return [...(await sql.unsafe(statement))];
}
