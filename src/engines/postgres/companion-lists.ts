/** Lists of companions: all, by metadata, by name. */
import type { CompanionQuery } from "../../contracts/store/companions.ts";
import { type Page, type PageRequest, toPage } from "../../contracts/store/page.ts";
import type { Companion } from "../../domain/companion.ts";
import { foldName } from "../store-shared/rows/companion.ts";
import { walkCompanions } from "../store-shared/rows/companion-walk.ts";
import { matchesMetadata } from "../store-shared/rows/metadata-blocks.ts";
import { ofAccount } from "../store-shared/scripts/companion-states.ts";
import { type CompanionRow, companionColumns, createCompanionReaders, toCompanion } from "./companion-reader.ts";
import type { PostgresEngine } from "./engine.ts";
import type { MetadataIndex } from "./metadata-index.ts";
import type { Queries } from "./queries.ts";

/** The account's companions with smaller numbers, newest first: compared and sorted as rows, only one index has them so. */
const below = `FROM companions c WHERE c.account_id >= $1 AND (c.account_id, c.number) < ($1, $2::float8::bigint)`;
const newestFirst = "ORDER BY c.account_id DESC, c.number DESC";

export const companionListQueries = {
  newest: `SELECT ${companionColumns.select("c")} ${below} ${newestFirst} LIMIT $3`,
  names: `SELECT c.number::float8 AS number ${below} AND position($4 IN c.name_folded) > 0 ${newestFirst} LIMIT $3`,
  // If the cursor's companion was deleted, the one created just before it replaces it.
  start: `SELECT a.number::float8 AS "accountNumber",
      (SELECT c.number + CASE WHEN c.id = $2 THEN 0 ELSE 1 END FROM companions c WHERE c.id <= $2 ORDER BY c.id DESC LIMIT 1)::float8
        AS position
    FROM accounts a WHERE a.id = $1`,
  byNumbers: `SELECT ${companionColumns.select("c")} FROM companions c
    WHERE c.number = ANY($1::float8[]::bigint[]) AND ${ofAccount("$2")} ORDER BY c.number DESC`,
  namesOf: `SELECT c.number::float8 AS number FROM companions c
    WHERE c.number = ANY($1::float8[]::bigint[]) AND position($2 IN c.name_folded) > 0 ORDER BY c.number DESC`,
  exact: `SELECT c.number::float8 AS number FROM companions c WHERE c.id = $1 AND ${ofAccount("$2")}`,
};

/** How many companions with the metadata are compared by name in one query. */
const namesAtOnce = 4_096;

interface Start {
  accountNumber: number;
  /** Companions on the page have smaller numbers. */
  position: number;
}

const newest = { position: Number.MAX_SAFE_INTEGER };

interface NumberRow {
  number: number;
}

export function createCompanionLists(engine: PostgresEngine, metadata: MetadataIndex) {
  /** Null if nothing can be on the page. */
  async function findStart(queries: Queries, accountId: string, afterId: string | null): Promise<Start | null> {
    const found = await queries.get<Start & { position: number | null }>(companionListQueries.start, [
      accountId,
      afterId,
    ]);
    if (found === null) return null;
    if (afterId === null) return { ...found, ...newest };
    return found.position === null ? null : found;
  }

  /**
   * The page from candidates, newest first. Each query sees what is committed by then: some may have been deleted or
   * changed since they were found.
   */
  async function readPage(
    queries: Queries,
    accountId: string,
    query: CompanionQuery,
    limit: number,
    candidates: AsyncIterable<number[]>,
  ): Promise<Page<Companion>> {
    const companions: Companion[] = [];
    for await (const numbers of candidates) {
      for (let at = 0; at < numbers.length && companions.length <= limit; ) {
        const some = numbers.slice(at, at + limit + 1 - companions.length);
        at += some.length;
        const rows = await queries.all<CompanionRow>(companionListQueries.byNumbers, [some, accountId]);
        const read = rows.map(toCompanion);
        companions.push(...read.filter((companion) => isMatch(companion, query)));
      }
      if (companions.length > limit) break;
    }
    return toPage(companions, limit);
  }

  async function* findNames(
    queries: Queries,
    accountId: string,
    query: CompanionQuery,
    start: Start,
    folded: string,
    atOnce: number,
  ): AsyncGenerator<number[]> {
    if (query.metadata.length > 0) {
      for await (const numbers of metadata.walk(
        queries,
        start.accountNumber,
        query.metadata,
        start.position,
        namesAtOnce,
      )) {
        yield toNumbers(await queries.all<NumberRow>(companionListQueries.namesOf, [numbers, folded]));
      }
      return;
    }
    for (let position = start.position; ; ) {
      const parameters = [accountId, position, atOnce, folded];
      const numbers = toNumbers(await queries.all<NumberRow>(companionListQueries.names, parameters));
      yield numbers;
      if (numbers.length < atOnce) return;
      position = numbers.at(-1) ?? 0;
    }
  }

  async function search(
    accountId: string,
    query: CompanionQuery,
    q: string,
    { limit, afterId }: PageRequest,
  ): Promise<Page<Companion>> {
    const queries = engine.heavy;
    const [start, exact] = await Promise.all([
      findStart(queries, accountId, afterId),
      queries.get<NumberRow>(companionListQueries.exact, [q.toLowerCase(), accountId]),
    ]);
    if (start === null) return toPage<Companion>([], limit);
    async function* only({ number }: NumberRow, { position }: Start) {
      if (number < position) yield [number];
    }
    const candidates =
      exact !== null ? only(exact, start) : findNames(queries, accountId, query, start, foldName(q), limit + 1);
    return await readPage(queries, accountId, query, limit, candidates);
  }

  async function readFiltered(
    accountId: string,
    query: CompanionQuery,
    { limit, afterId }: PageRequest,
  ): Promise<Page<Companion>> {
    const queries = engine.quick;
    const start = await findStart(queries, accountId, afterId);
    if (start === null) return toPage<Companion>([], limit);
    const candidates = metadata.walk(queries, start.accountNumber, query.metadata, start.position);
    return await readPage(queries, accountId, query, limit, candidates);
  }

  const readerOf = createCompanionReaders(engine, metadata);

  return {
    countByModel: async (): Promise<Map<string | null, number>> => {
      const text = "SELECT model, count(*)::float8 AS count FROM companions GROUP BY model";
      const rows = await engine.heavy.all<{ model: string | null; count: number }>(text);
      return new Map(rows.map(({ model, count }) => [model, count]));
    },

    list: async (accountId: string, query: CompanionQuery, page: PageRequest): Promise<Page<Companion>> => {
      if (page.order === "asc" || query.isEnabled != null || query.updatedSinceMs != null) {
        return await walkCompanions(readerOf(accountId, query.metadata), query, page);
      }
      if (query.q !== null && query.q !== "") return await search(accountId, query, query.q, page);
      if (query.metadata.length > 0) return await readFiltered(accountId, query, page);
      const start = page.afterId === null ? newest : await findStart(engine.quick, accountId, page.afterId);
      if (start === null) return toPage<Companion>([], page.limit);
      const parameters = [accountId, start.position, page.limit + 1];
      const rows = await engine.quick.all<CompanionRow>(companionListQueries.newest, parameters);
      return toPage(rows.map(toCompanion), page.limit);
    },
  };
}

function toNumbers(rows: readonly NumberRow[]): number[] {
  return rows.map(({ number }) => number);
}

function isMatch(companion: Companion, { metadata }: CompanionQuery): boolean {
  return metadata.length === 0 || matchesMetadata(companion.metadata, metadata);
}
