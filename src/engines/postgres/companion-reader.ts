/** What lists of companions read that no index serves alone; `rows/companion-walk.ts` decides what is read. */
import type { MetadataFilter } from "../../contracts/store/companions.ts";
import type { ListOrder } from "../../contracts/store/page.ts";
import { createCompanionReader } from "../store-shared/rows/companion.ts";
import type { CompanionFacts, CompanionReader, Position } from "../store-shared/rows/companion-walk.ts";
import { ofAccount } from "../store-shared/scripts/companion-states.ts";
import type { Row } from "../store-shared/tables/dialect.ts";
import type { PostgresEngine } from "./engine.ts";
import type { MetadataIndex } from "./metadata-index.ts";
import { mapColumns } from "./rows/columns.ts";
import { tables } from "./tables.ts";

export const companionColumns = mapColumns(tables.companions, ["number", "nameFolded", "hadTools"]);

type Json = "allowedOrigins" | "starters" | "metadata" | "appearance" | "handoff" | "leads" | "seenOn";

/** As PostgreSQL gives it: JSON is text. */
export type CompanionRow = Omit<Row<typeof tables.companions>, "number" | "nameFolded" | "hadTools" | Json> &
  Record<Json, string>;

export const toCompanion = createCompanionReader<CompanionRow>(companionColumns.createReader(["metadata"]));

const end = Number.MAX_SAFE_INTEGER;

/** The account's companions after a position, compared and sorted as rows: only one index has them so. */
function selectPositions(keys: readonly Key[], order: ListOrder, updatedAt = "0", condition = ""): string {
  const [after, direction] = order === "asc" ? [">", "ASC"] : ["<", "DESC"];
  const columns = ["c.account_id", ...keys.map(([column]) => `c.${column}`)];
  const parameters = ["$1", ...keys.map(([, parameter]) => parameter)];
  const sorted = columns.map((column) => `${column} ${direction}`);
  return `SELECT c.number::float8 AS number, ${updatedAt} AS "updatedAt" FROM companions c
    WHERE c.account_id = $1 ${condition} AND (${columns.join(", ")}) ${after} (${parameters.join(", ")})
    ORDER BY ${sorted.join(", ")} LIMIT $2`;
}

type Key = readonly [column: string, parameter: string];

const number = (order: ListOrder): Key => ["number", `${order === "asc" ? "floor" : "ceil"}($3::float8)::bigint`];
const made = (order: ListOrder) => selectPositions([number(order)], order);
const enabled = (order: ListOrder) =>
  selectPositions([["enabled", "$4::boolean"], number(order)], order, "0", "AND c.enabled = $4::boolean");
const updated = (order: ListOrder) =>
  selectPositions(
    [["updated_at", "$4::float8::bigint"], number(order)],
    order,
    "c.updated_at::float8",
    "AND c.updated_at >= $5::float8::bigint",
  );

export const companionWalkQueries = {
  made: { asc: made("asc"), desc: made("desc") },
  enabled: { asc: enabled("asc"), desc: enabled("desc") },
  updated: { asc: updated("asc"), desc: updated("desc") },
  countEnabled: `SELECT count(*)::int AS count FROM
    (SELECT FROM companions c WHERE c.account_id = $1 AND c.enabled = $2::boolean
     ORDER BY c.account_id, c.enabled, c.number LIMIT $3) AS counted`,
  position: "SELECT c.number::float8 AS number, c.id FROM companions c WHERE c.id <= $1 ORDER BY c.id DESC LIMIT 1",
  exact: `SELECT c.number::float8 AS number FROM companions c WHERE c.id = $1 AND ${ofAccount("$2")}`,
  id: "SELECT c.id FROM companions c WHERE c.number = $1::float8::bigint",
  facts: `SELECT c.number::float8 AS number, c.updated_at::float8 AS "updatedAt", c.enabled AS "isEnabled",
      c.name_folded AS "nameFolded"
    FROM companions c WHERE c.number = ANY($1::float8[]::bigint[]) AND ${ofAccount("$2")}`,
  companions: `SELECT c.number::float8 AS "foundNumber", ${companionColumns.select("c")} FROM companions c
    WHERE c.number = ANY($1::float8[]::bigint[]) AND ${ofAccount("$2")}`,
};

/** Of an account, and of those of its companions that have the metadata. */
export function createCompanionReaders(engine: PostgresEngine, metadata: MetadataIndex) {
  const queries = engine.heavy;
  return (accountId: string, filters: readonly MetadataFilter[]): CompanionReader => ({
    async findPosition(id) {
      const row = await queries.get<{ number: number; id: string }>(companionWalkQueries.position, [id]);
      if (row === null) return 0.5;
      return row.id === id ? row.number : row.number + 0.5;
    },
    findExact: async (id) =>
      (await queries.get<{ number: number }>(companionWalkQueries.exact, [id, accountId]))?.number ?? null,
    findId: async (number) => (await queries.get<{ id: string }>(companionWalkQueries.id, [number]))?.id ?? null,
    listPositions({ order, sinceMs, isEnabled }, after, limit) {
      const start = order === "asc" ? 0 : end;
      if (sinceMs !== null) {
        const { updatedAt, number } = after ?? { updatedAt: order === "asc" ? sinceMs : end, number: 0 };
        return queries.all<Position>(companionWalkQueries.updated[order], [
          accountId,
          limit,
          number,
          updatedAt,
          sinceMs,
        ]);
      }
      const range = [accountId, limit, after?.number ?? start];
      if (isEnabled === null) return queries.all<Position>(companionWalkQueries.made[order], range);
      return queries.all<Position>(companionWalkQueries.enabled[order], [...range, isEnabled]);
    },
    countEnabled: async (isEnabled, limit) =>
      (await queries.get<{ count: number }>(companionWalkQueries.countEnabled, [accountId, isEnabled, limit]))?.count ??
      0,
    async readSets() {
      const account = await queries.get<{ number: number }>(
        "SELECT number::float8 AS number FROM accounts WHERE id = $1",
        [accountId],
      );
      const sets = new Map<number, Uint8Array>();
      if (account === null) return sets;
      for await (const some of metadata.walkSets(queries, account.number, filters, end)) {
        for (const [block, set] of some) sets.set(block, set);
      }
      return sets;
    },
    readFacts: (numbers) => queries.all<CompanionFacts>(companionWalkQueries.facts, [numbers, accountId]),
    async readCompanions(numbers) {
      const rows = await queries.all<CompanionRow & { foundNumber: number }>(companionWalkQueries.companions, [
        numbers,
        accountId,
      ]);
      const byNumber = new Map(rows.map(({ foundNumber, ...row }) => [foundNumber, row as CompanionRow]));
      return numbers.flatMap((one) => {
        const row = byNumber.get(one);
        return row === undefined ? [] : [toCompanion(row)];
      });
    },
  });
}
