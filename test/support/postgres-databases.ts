/**
 * Databases of a PostgreSQL server for tests. The gate starts one server for all its test files and names it in
 * `COMPANIOND_TEST_POSTGRES`.
 */
import { SQL } from "bun";

export interface PostgresDatabases {
  /** `postgres://user@host:port/database`; the user is a superuser without a password. */
  url(database: string): string;
  /** An empty database under a name of its own, or a copy of the template, which nobody may be connected to. */
  createDatabase(template?: string): Promise<{ name: string; url: string }>;
  /** Also ends the connections to it. Nothing happens if there is none of this name. */
  dropDatabase(name: string): Promise<void>;
}

/** `serverUrl` has no path. */
export function databasesOf(serverUrl: string): PostgresDatabases {
  const url = (database: string) => `${serverUrl}/${database}`;
  const run = (statement: string) => runStatement(url("postgres"), statement);
  return {
    url,
    async createDatabase(template = "template0") {
      const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
      await run(`CREATE DATABASE ${name} TEMPLATE ${template}`);
      return { name, url: url(name) };
    },
    async dropDatabase(name) {
      await run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/** On a connection of its own, which a server that was restarted in between does not break. */
async function runStatement(url: string, statement: string): Promise<void> {
  const sql = new SQL(url, { max: 1 });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.close();
  }
}
