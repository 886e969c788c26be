/** The migrations in order, embedded in the executable. */
import initial from "../../../drizzle/postgres/0000_initial.sql" with { type: "text" };

export interface Migration {
  name: string;
  sql: string;
}

export const migrations: readonly Migration[] = [{ name: "0000_initial", sql: initial }];

/**
 * Programs that know fewer migrations than this cannot work with the schema as it is now. Migrations only add, so that
 * servers of the version before go on while others are replaced; raise this with the first one that does not.
 */
export const oldestReader = 1;
