/** An empty PostgreSQL database to copy into, marked as unfinished until everything is in it. */
import { schemaAfter } from "../../contracts/store/schema-number.ts";
import { AppError } from "../../domain/errors.ts";
import { migrations } from "../postgres/migrations.ts";
import { migratePostgres, requireReadable } from "../postgres/migrator.ts";
import type { Parameter, Queries } from "../postgres/queries.ts";
import type { CopyTarget, TableProgress } from "./pages.ts";
import { createPostgresReader, openPostgresSession } from "./postgres-session.ts";
import { type CopiedTable, copiedTables, type Kind, type Row } from "./tables.ts";

const howToEmpty = "drop the database and create it again";

/** Rejects with `unavailable`, or with `conflict` if the database holds anything but an unfinished copy of this source. */
export async function openPostgresTarget(url: string, sourceName: string): Promise<CopyTarget> {
  const { name, queries, pool, close } = await openPostgresSession(url);
  try {
    const { version, copyFrom } = await requireReadable(queries);
    const isBegun = copyFrom !== null;
    const latest = schemaAfter(migrations.length);
    if (isBegun ? version !== latest : version > latest) {
      throw new AppError(
        "conflict",
        `${name} was begun by another version of companiond. Take that one, or ${howToEmpty}.`,
      );
    }
    if (isBegun && copyFrom !== sourceName) {
      throw new AppError(
        "conflict",
        `${name} is an unfinished copy of ${copyFrom}. Finish that one, or ${howToEmpty}.`,
      );
    }
    if (!isBegun) {
      await migratePostgres(pool);
      await requireEmpty(queries, name);
      await begin(queries, sourceName);
    }
    // A crash of PostgreSQL takes the newest pages and their progress alike, and the last commit of all is on disk.
    await queries.run("SET synchronous_commit = off");
    return createTarget(queries, { name, progress: await readProgress(queries), close });
  } catch (error) {
    await close();
    throw error;
  }
}

async function requireEmpty(queries: Queries, name: string): Promise<void> {
  const any = copiedTables.map((table) => `EXISTS (SELECT 1 FROM "${table.name}")`).join(" OR ");
  const found = await queries.get<{ isFilled: boolean }>(`SELECT ${any} AS "isFilled"`);
  if (!found?.isFilled) return;
  throw new AppError("conflict", `${name} already holds data of companiond. Copy into an empty database.`);
}

async function begin(queries: Queries, sourceName: string): Promise<void> {
  await inTransaction(queries, async () => {
    await queries.run("UPDATE companiond SET copy_from = $1", [sourceName]);
    await queries.run(
      `CREATE TABLE companiond_copy
         (table_name text PRIMARY KEY, last_key text NOT NULL, rows bigint NOT NULL, replaced bigint NOT NULL)`,
    );
  });
}

async function inTransaction(queries: Queries, work: () => Promise<void>): Promise<void> {
  await queries.run("BEGIN");
  await work();
  // A failure before this ends the session, and with it the transaction.
  await queries.run("COMMIT");
}

async function readProgress(queries: Queries): Promise<Map<string, TableProgress>> {
  const rows = await queries.all<{ table: string; last: string; rows: number; replaced: number }>(
    `SELECT table_name AS "table", last_key AS last, rows::float8 AS rows, replaced::float8 AS replaced
     FROM companiond_copy`,
  );
  return new Map(rows.map(({ table, last, ...counts }) => [table, { last: JSON.parse(last), ...counts }]));
}

function createTarget(
  queries: Queries,
  { name, progress, close }: Pick<CopyTarget, "name" | "progress" | "close">,
): CopyTarget {
  return {
    name,
    howToEmpty,
    progress,
    ...createPostgresReader(queries),
    async writePage(table, rows, { last, rows: count, replaced }) {
      const noted = [table.name, JSON.stringify(last), count, replaced];
      await queries.run(insertPage(table), [...noted, ...toColumns(table, rows)]);
    },
    async finish(lastNumbers) {
      for (const { name } of copiedTables) await queries.run(`ANALYZE "${name}"`);
      await inTransaction(queries, async () => {
        await queries.run("SET LOCAL synchronous_commit = on");
        for (const [{ name }, number] of lastNumbers) {
          if (number > 0) await queries.run(`SELECT setval('"${name}_number_seq"', $1::float8::bigint)`, [number]);
        }
        await queries.run("DROP TABLE companiond_copy");
        await queries.run("UPDATE companiond SET copy_from = NULL");
      });
    },
    close,
  };
}

const sent: Readonly<Record<Kind, { array: string; value?: (column: string) => string }>> = {
  text: { array: "text[]" },
  "index text": { array: "text[]" },
  digest: { array: "text[]" },
  whole: { array: "float8[]" },
  real: { array: "float8[]" },
  boolean: { array: "boolean[]" },
  bytes: { array: "text[]", value: (column) => `decode(${column}, 'hex')` },
};

/** One statement, and so one transaction, whose first parameters are the progress. */
function insertPage({ name, columns }: CopiedTable): string {
  const names = columns.map((column) => `"${column.name}"`).join(", ");
  const values = columns.map(({ kind }, index) => sent[kind].value?.(`c${index}`) ?? `c${index}`).join(", ");
  const arrays = columns.map(({ kind }, index) => `$${index + 5}::${sent[kind].array}`).join(", ");
  const aliases = columns.map((_, index) => `c${index}`).join(", ");
  return `WITH noted AS (
      INSERT INTO companiond_copy (table_name, last_key, rows, replaced)
      VALUES ($1, $2, $3::float8::bigint, $4::float8::bigint)
      ON CONFLICT (table_name) DO UPDATE
        SET last_key = excluded.last_key, rows = excluded.rows, replaced = excluded.replaced)
    INSERT INTO "${name}" (${names}) SELECT ${values} FROM unnest(${arrays}) AS page (${aliases})`;
}

function toColumns({ columns }: CopiedTable, rows: readonly Row[]): Parameter[] {
  return columns.map((_, index) => rows.map((row) => row[index] ?? null));
}
