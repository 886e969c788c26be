/** The migrations in order, embedded in the executable. */
import initial from "../../../drizzle/sqlite/0000_initial.sql" with { type: "text" };

export interface Migration {
  name: string;
  sql: string;
}

export const migrations: readonly Migration[] = [{ name: "0000_initial", sql: initial }];
