/**
 * Lookups by a key that all requests of one turn of the event loop share: one query for all of them. So revocation
 * works with the next request at any server, and a lookup costs little more than in memory.
 */
import type { Queries } from "./queries.ts";

interface Waiting<Found> {
  resolve(found: Found | null): void;
  reject(error: unknown): void;
}

/** More keys than this go into several queries. */
const mostKeys = 500;

export interface SharedLookupOptions<Row, Found> {
  /** Makes what callers get of a row. */
  read: (row: Row) => Found;
  /** Called before each query is sent; the result is called with its rows. */
  begin?: () => (rows: readonly Row[]) => void;
}

/**
 * `text` has one parameter, `$1::text[]`, and selects the key as `lookupKey`. What is found may be shared by several
 * callers, who must not change it.
 */
export function createSharedLookup<Row extends { lookupKey: string }, Found>(
  queries: Pick<Queries, "all">,
  text: string | (() => string),
  { read, begin }: SharedLookupOptions<Row, Found>,
): (key: string) => Promise<Found | null> {
  let gathered: Map<string, Waiting<Found>[]> | null = null;
  let statement: string | null = typeof text === "string" ? text : null;

  function flush(): void {
    const waiting = gathered ?? new Map();
    gathered = null;
    const keys = [...waiting.keys()];
    for (let at = 0; at < keys.length; at += mostKeys) void answer(keys.slice(at, at + mostKeys), waiting);
  }

  async function answer(keys: readonly string[], waiting: ReadonlyMap<string, Waiting<Found>[]>): Promise<void> {
    try {
      statement ??= typeof text === "string" ? text : text();
      const answered = begin?.();
      const rows = await queries.all<Row>(statement, [keys]);
      answered?.(rows);
      const found = new Map(rows.map((row) => [row.lookupKey, read(row)]));
      for (const key of keys) for (const { resolve } of waiting.get(key) ?? []) resolve(found.get(key) ?? null);
    } catch (error) {
      for (const key of keys) for (const { reject } of waiting.get(key) ?? []) reject(error);
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      // PostgreSQL would refuse the query, and with it the keys of all others.
      if (key.includes("\0")) return resolve(null);
      if (gathered === null) {
        gathered = new Map();
        setImmediate(flush);
      }
      const others = gathered.get(key);
      if (others === undefined) gathered.set(key, [{ resolve, reject }]);
      else others.push({ resolve, reject });
    });
}
