/**
 * Lookups by a key that all requests of one turn of the event loop share: one query for all of them. So revocation
 * works with the next request at any server, and a lookup costs little more than in memory.
 */
import type { Queries } from "./queries.ts";

interface Waiting<Row> {
  resolve(row: Row | null): void;
  reject(error: unknown): void;
}

/** More keys than this go into several queries. */
const mostKeys = 500;

/**
 * `text` has one parameter, `$1::text[]`, and selects the key as `lookupKey`. The rows may be shared by several
 * callers, who must not change them.
 */
export function createSharedLookup<Row extends { lookupKey: string }>(
  queries: Pick<Queries, "all">,
  text: string | (() => string),
): (key: string) => Promise<Row | null> {
  let gathered: Map<string, Waiting<Row>[]> | null = null;
  let statement: string | null = typeof text === "string" ? text : null;

  function flush(): void {
    const waiting = gathered ?? new Map();
    gathered = null;
    const keys = [...waiting.keys()];
    for (let at = 0; at < keys.length; at += mostKeys) void answer(keys.slice(at, at + mostKeys), waiting);
  }

  async function answer(keys: readonly string[], waiting: ReadonlyMap<string, Waiting<Row>[]>): Promise<void> {
    try {
      statement ??= typeof text === "string" ? text : text();
      const rows = await queries.all<Row>(statement, [keys]);
      const found = new Map(rows.map((row) => [row.lookupKey, row]));
      for (const key of keys) for (const { resolve } of waiting.get(key) ?? []) resolve(found.get(key) ?? null);
    } catch (error) {
      for (const key of keys) for (const { reject } of waiting.get(key) ?? []) reject(error);
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      if (gathered === null) {
        gathered = new Map();
        setImmediate(flush);
      }
      const others = gathered.get(key);
      if (others === undefined) gathered.set(key, [{ resolve, reject }]);
      else others.push({ resolve, reject });
    });
}
