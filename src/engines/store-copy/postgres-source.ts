/** A stopped PostgreSQL store to copy from: read in one transaction, which sees nothing that comes later. */
import { schemaAfter } from "../../contracts/store/schema-number.ts";
import { AppError } from "../../domain/errors.ts";
import { migrations } from "../postgres/migrations.ts";
import { requireReadable } from "../postgres/migrator.ts";
import type { Queries } from "../postgres/queries.ts";
import type { CopySource } from "./pages.ts";
import { createPostgresReader, openPostgresSession } from "./postgres-session.ts";

/** Rejects with `unavailable` or `conflict`, and a sentence with the reason. */
export async function openPostgresSource(url: string): Promise<CopySource> {
  const { name, queries, close } = await openPostgresSession(url);
  try {
    await requireSchema(queries, name);
    // The other end may take its time between two questions.
    await queries.run("SET idle_in_transaction_session_timeout = '15min'");
    await queries.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    return { name, ...createPostgresReader(queries), ...createCounts(queries), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function createCounts(queries: Queries): Pick<CopySource, "countRows" | "findLastNumber"> {
  const readNumber = async (text: string) => (await queries.get<{ number: number }>(text))?.number ?? 0;
  return {
    countRows: ({ name }) => readNumber(`SELECT count(*)::float8 AS number FROM "${name}"`),
    findLastNumber: ({ name }) =>
      readNumber(
        `SELECT greatest((SELECT max(number) FROM "${name}"),
           (SELECT last_value FROM "${name}_number_seq" WHERE is_called), 0)::float8 AS number`,
      ),
  };
}

async function requireSchema(queries: Queries, name: string): Promise<void> {
  const { version, copyFrom } = await requireReadable(queries);
  const refuse = (what: string) => new AppError("conflict", `${name} ${what}`);
  const latest = schemaAfter(migrations.length);
  if (version === 0) throw refuse("holds nothing of companiond.");
  if (copyFrom !== null) throw refuse(`is itself an unfinished copy of ${copyFrom}.`);
  if (version > latest) throw refuse("was written by a newer companiond. Copy it with that one.");
  if (version < latest) {
    throw refuse('has an older schema. Run "companiond migrate" with this DATABASE_URL first.');
  }
}
