/**
 * What the migrations make of an empty database. A macro: it runs while the program is built, since making it takes some
 * milliseconds, which a start should not.
 */
import { Database } from "bun:sqlite";
import type { SchemaPrints } from "../store-shared/rows/schema-prints.ts";
import { migrations } from "./migrations.ts";
import { readPrints, readWholePrint } from "./schema-objects.ts";

export function makeSchema(): { prints: SchemaPrints; wholePrint: string } {
  using database = new Database(":memory:");
  for (const { sql } of migrations) database.run(sql);
  return { prints: readPrints(database), wholePrint: readWholePrint(database) };
}
