/** What a SQLite database consists of, and how that differs from what the migrations make. */
import type { Database } from "bun:sqlite";
import { sha256Hex } from "../../lib/sha256.ts";
import type { SchemaDifferences } from "../contract/inspection.ts";
import { schemaAfter } from "../contract/schema-number.ts";
import { compareSchema, printSchema, type SchemaPrints } from "../rows/schema-prints.ts";
import { migrations } from "./migrations.ts";
import { schemaPrints, wholePrint } from "./schema-prints.ts";

type Reader = Pick<Database, "prepare">;

/** Without what SQLite and Litestream make by themselves, and in no version's way of quoting and breaking lines. */
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

/** Of everything at once, as it is written there. */
export function readWholePrint(database: Reader): string {
  const statement = database.prepare<{ text: string | null }, []>(
    "SELECT group_concat(sql, ';') AS text FROM (SELECT sql FROM sqlite_schema ORDER BY name)",
  );
  const text = statement.get()?.text ?? "";
  statement.finalize();
  return sha256Hex(text);
}

/** A fraction of a millisecond where there are none; nothing where migrations are still to come. */
export function findDifferences(database: Reader): SchemaDifferences {
  const statement = database.prepare<{ user_version: number }, []>("PRAGMA user_version");
  const version = statement.get()?.user_version;
  statement.finalize();
  if (version !== schemaAfter(migrations.length)) return { changed: [], added: [] };
  // Reading and comparing object by object takes some milliseconds, which a start should not.
  if (readWholePrint(database) === wholePrint) return { changed: [], added: [] };
  return compareSchema(readPrints(database), schemaPrints);
}
