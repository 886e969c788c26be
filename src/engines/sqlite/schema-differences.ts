/** How a SQLite database differs from what the migrations make. */
import type { SchemaDifferences } from "../../contracts/store/inspection.ts";
import { schemaAfter } from "../../contracts/store/schema-number.ts";
import { compareSchema } from "../store-shared/rows/schema-prints.ts";
import { migrations } from "./migrations.ts";
import { makeSchema } from "./schema-objects.ts" with { type: "macro" };
import { type Reader, readPrints, readWholePrint } from "./schema-objects.ts";

const made = makeSchema();

/** A fraction of a millisecond where there are none; nothing where migrations are still to come. */
export function findDifferences(database: Reader): SchemaDifferences {
  const statement = database.prepare<{ user_version: number }, []>("PRAGMA user_version");
  const version = statement.get()?.user_version;
  statement.finalize();
  if (version !== schemaAfter(migrations.length)) return { changed: [], added: [] };
  // Reading and comparing object by object takes some milliseconds, which a start should not.
  if (readWholePrint(database) === made.wholePrint) return { changed: [], added: [] };
  return compareSchema(readPrints(database), made.prints);
}
