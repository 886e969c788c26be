/** What our schema in PostgreSQL consists of, and how that differs from what the migrations make. */
import type { SchemaDifferences } from "../../contracts/store/inspection.ts";
import {
  compareSchema,
  printSchema,
  readWrittenPrints,
  type SchemaObject,
  type SchemaPrints,
} from "../store-shared/rows/schema-prints.ts";
import type { Queries } from "./queries.ts";
import { schemaPrints } from "./schema-prints.ts";

/**
 * Names, types and columns alone: how expressions are written out depends on the server's version. What belongs to an
 * extension in the same schema is no one's change.
 */
const objectsQuery = `
  WITH tables AS (
    SELECT c.oid, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')
      AND NOT EXISTS (SELECT FROM pg_depend d
        WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
  )
  SELECT t.relname AS "table", t.relname AS name,
    (SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull, ', '
       ORDER BY a.attname)
     FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped) AS text
  FROM tables t
  UNION ALL
  SELECT t.relname, i.relname,
    x.indisunique || ' ' || x.indisvalid || ' ' || (x.indpred IS NOT NULL) || ' ' || coalesce(
      (SELECT string_agg(a.attname, ',' ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = i.oid), '')
  FROM tables t JOIN pg_index x ON x.indrelid = t.oid JOIN pg_class i ON i.oid = x.indexrelid
  UNION ALL
  SELECT t.relname, g.tgname, p.proname || ' ' || g.tgtype || ' ' || g.tgenabled::text
  FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal JOIN pg_proc p ON p.oid = g.tgfoid
  UNION ALL
  SELECT p.proname || '()', p.proname || '()', string_agg(p.prosrc, ';' ORDER BY p.prosrc)
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE n.nspname = current_schema()
    AND NOT EXISTS (SELECT FROM pg_depend d
      WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
  GROUP BY p.proname`;

export async function readPrints(queries: Queries): Promise<SchemaPrints> {
  const objects = await queries.all<SchemaObject>(objectsQuery);
  return printSchema(objects.map((object) => ({ ...object, text: object.text ?? "" })));
}

export async function findDifferences(queries: Queries): Promise<SchemaDifferences> {
  return compareSchema(await readPrints(queries), readWrittenPrints(schemaPrints));
}
