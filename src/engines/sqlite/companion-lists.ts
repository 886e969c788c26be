/** Lists of companions: all, by metadata, by name. */
import type { CompanionQuery } from "../../contracts/store/companions.ts";
import { type Page, type PageRequest, toPage } from "../../contracts/store/page.ts";
import type { Companion } from "../../domain/companion.ts";
import { pause } from "../../lib/pause.ts";
import { foldName } from "../store-shared/rows/companion.ts";
import { walkCompanions } from "../store-shared/rows/companion-walk.ts";
import { type CompanionRow, companionColumns, createCompanionReaders, toCompanion } from "./companion-reader.ts";
import { createAccountNumberFinder, type SqliteEngine } from "./engine.ts";
import type { MetadataIndex } from "./metadata-index.ts";

/** How many names are read before other requests get their turn: about a millisecond. */
const namesPerSlice = 2_000;
/** The same of models: they stand behind prompts, which may have to be read past. */
const modelsPerSlice = 500;

export const companionListQueries = {
  get newest() {
    return `SELECT ${companionColumns.select("c")} FROM companions c
     WHERE c.account_id = ? AND c.number < ? ORDER BY c.number DESC LIMIT ?`;
  },
  names: `SELECT number, name_folded FROM companions INDEXED BY companions_account
     WHERE account_id = ? AND number < ? ORDER BY number DESC LIMIT ?`,
};

export function createCompanionLists(engine: SqliteEngine, metadata: MetadataIndex) {
  const selectNewest = engine.query<CompanionRow, [string, number, number]>(() => companionListQueries.newest);
  const selectNames = engine.query<{ number: number; name_folded: string }, [string, number, number]>(
    companionListQueries.names,
  );
  const selectName = engine.query<{ name_folded: string }, [number]>(
    "SELECT name_folded FROM companions WHERE number = ?",
  );
  const selectByNumber = engine.query<CompanionRow, [number, string]>(
    () => `SELECT ${companionColumns.select("c")} FROM companions c WHERE c.number = ? AND c.account_id = ?`,
  );
  const selectModels = engine.query<{ number: number; model: string | null }, [number, number]>(
    "SELECT number, model FROM companions WHERE number > ? ORDER BY number LIMIT ?",
  );
  const findAccountNumber = createAccountNumberFinder(engine);
  // If the cursor's companion was deleted, the one created just before it replaces it.
  const selectPosition = engine.query<{ number: number; id: string }, [string]>(
    "SELECT number, id FROM companions WHERE id <= ? ORDER BY id DESC LIMIT 1",
  );
  const selectNumber = engine.query<{ number: number }, [string, string]>(
    "SELECT number FROM companions WHERE id = ? AND account_id = ?",
  );

  /** Companions on the page have smaller numbers. */
  function positionOf(afterId: string | null): number {
    if (afterId === null) return Number.MAX_SAFE_INTEGER;
    const row = selectPosition.get(afterId);
    if (row === null) return 0;
    return row.id === afterId ? row.number : row.number + 1;
  }

  function readNumbers(accountId: string, numbers: readonly number[]): Companion[] {
    const rows = numbers.map((number) => selectByNumber.get(number, accountId));
    return rows.filter((row) => row !== null).map(toCompanion);
  }

  function* walkMetadata(accountId: string, query: CompanionQuery, below: number): Generator<number[]> {
    const account = findAccountNumber(accountId);
    if (account !== null) yield* metadata.walk(account, query.metadata, below);
  }

  /**
   * The next companions of the account, or of those with the metadata, with numbers below `below`; counts matches and
   * others.
   */
  function readNames(
    accountId: string,
    query: CompanionQuery,
    below: number,
  ): { number: number; name_folded: string }[] {
    if (query.metadata.length === 0) return selectNames.all(accountId, below, namesPerSlice);
    for (const numbers of walkMetadata(accountId, query, below)) {
      return numbers
        .slice(0, namesPerSlice)
        .map((number) => ({ number, name_folded: selectName.get(number)?.name_folded ?? "" }));
    }
    return [];
  }

  function readFiltered(accountId: string, query: CompanionQuery, { limit, afterId }: PageRequest): Page<Companion> {
    const numbers: number[] = [];
    for (const found of walkMetadata(accountId, query, positionOf(afterId))) {
      numbers.push(...found.slice(0, limit + 1 - numbers.length));
      if (numbers.length > limit) break;
    }
    return toPage(readNumbers(accountId, numbers), limit);
  }

  async function search(
    accountId: string,
    query: CompanionQuery,
    q: string,
    page: PageRequest,
  ): Promise<Page<Companion>> {
    const { exact, start } = await engine.snapshot(() => {
      return { exact: selectNumber.get(q.toLowerCase(), accountId), start: positionOf(page.afterId) };
    });
    if (exact !== null) {
      return await engine.snapshot(() => {
        const isMatch = exact.number < start && hasMetadata(accountId, query, exact.number);
        return toPage(isMatch ? readNumbers(accountId, [exact.number]) : [], page.limit);
      });
    }
    const folded = foldName(q);
    const found: number[] = [];
    for (let below = start; found.length <= page.limit; await pause()) {
      const names = await engine.snapshot(() => readNames(accountId, query, below));
      const last = names.at(-1);
      if (last === undefined) break;
      below = last.number;
      found.push(...names.filter((row) => row.name_folded.includes(folded)).map((row) => row.number));
    }
    return await engine.snapshot(() => toPage(readNumbers(accountId, found.slice(0, page.limit + 1)), page.limit));
  }

  function hasMetadata(accountId: string, query: CompanionQuery, number: number): boolean {
    if (query.metadata.length === 0) return true;
    const account = findAccountNumber(accountId);
    return account !== null && metadata.has(account, query.metadata, number);
  }

  const readerOf = createCompanionReaders(engine, metadata);

  return {
    countByModel: async (): Promise<Map<string | null, number>> => {
      const counts = new Map<string | null, number>();
      for (let after = 0; ; await pause()) {
        const rows = await engine.read(() => selectModels.all(after, modelsPerSlice));
        for (const { model } of rows) counts.set(model, (counts.get(model) ?? 0) + 1);
        const last = rows.at(-1);
        if (last === undefined) return counts;
        after = last.number;
      }
    },

    list: async (accountId: string, query: CompanionQuery, page: PageRequest): Promise<Page<Companion>> => {
      if (page.order === "asc" || query.isEnabled != null || query.updatedSinceMs != null) {
        return await walkCompanions(readerOf(accountId, query.metadata), query, page);
      }
      if (query.q !== null && query.q !== "") return await search(accountId, query, query.q, page);
      return await engine.snapshot(() => {
        if (query.metadata.length > 0) return readFiltered(accountId, query, page);
        return toPage(
          selectNewest.all(accountId, positionOf(page.afterId), page.limit + 1).map(toCompanion),
          page.limit,
        );
      });
    },
  };
}
