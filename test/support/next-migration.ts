/** A made-up migration behind those that there are: until it is disposed of, this program is the next version. */
import type { Migration } from "../../src/engines/postgres/migrations.ts";
import { migrations as ofPostgres } from "../../src/engines/postgres/migrations.ts";
import { migrations as ofSqlite } from "../../src/engines/sqlite/migrations.ts";

export const nextMigration: Migration = { name: "9999_moods", sql: "ALTER TABLE accounts ADD COLUMN mood text" };

export function becomeNextVersion(): Disposable {
  const all = [ofSqlite, ofPostgres] as Migration[][];
  for (const migrations of all) migrations.push(nextMigration);
  return {
    [Symbol.dispose]() {
      for (const migrations of all) migrations.pop();
    },
  };
}
