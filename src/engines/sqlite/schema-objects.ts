/** What a SQLite database consists of, and what the migrations make of an empty one. */
import { Database } from "bun:sqlite";
import { sha256Hex } from "../../lib/sha256.ts";
import { printSchema, type SchemaPrints } from "../store-shared/rows/schema-prints.ts";
import { migrations } from "./migrations.ts";

export type Reader = Pick<Database, "prepare">;

/** Without what SQLite and Litestream create on their own, and independent of a version's quoting and line breaks. */
export function readPrints(database: Reader): SchemaPrints {
  const statement = database.prepare<{ table: string; name: string; text: string }, []>(
    'SELECT tbl_name AS "table", name, sql AS text FROM sqlite_schema ' +
      "WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND tbl_name NOT LIKE '\\_litestream\\_%' ESCAPE '\\'",
  );
  const objects = statement.all();
  statement.finalize();
  return printSchema(
    objects.map(({ text, ...object }) => ({ ...object, text: text.replace(/["`[\]\s]/g, "").toLowerCase() })),
  );
}

/** Of everything together, as it is written there. */
export function readWholePrint(database: Reader): string {
  const statement = database.prepare<{ text: string | null }, []>(
    "SELECT group_concat(sql, ';') AS text FROM (SELECT sql FROM sqlite_schema ORDER BY name)",
  );
  const text = statement.get()?.text ?? "";
  statement.finalize();
  return sha256Hex(text);
}

/** A macro: it runs while the program is built, since making it takes some milliseconds, which a start should not. */
export function makeSchema(): { prints: SchemaPrints; wholePrint: string } {
  using database = new Database(":memory:");
  for (const { sql } of migrations) database.run(sql);
  return { prints: readPrints(database), wholePrint: readWholePrint(database) };
}
