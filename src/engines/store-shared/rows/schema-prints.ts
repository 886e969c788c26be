/** Compares what a database consists of with what this program's migrations make, object by object. */
import type { SchemaDifferences } from "../../../contracts/store/inspection.ts";
import { sha256Hex } from "../../../lib/sha256.ts";

/** A table, an index, a trigger or a function. */
export interface SchemaObject {
  /** The table that it belongs to, which is itself for a table. */
  table: string;
  name: string;
  /** What it is, in the same words wherever it is the same. */
  text: string;
}

/** A short hash for each object, by table and name. */
export type SchemaPrints = Readonly<Record<string, string>>;

export function printSchema(objects: readonly SchemaObject[]): SchemaPrints {
  const prints = objects.map(({ table, name, text }) => [
    name === table ? table : `${table} ${name}`,
    sha256Hex(text).slice(0, 12),
  ]);
  return Object.fromEntries(prints.sort(([one = ""], [other = ""]) => (one < other ? -1 : 1)));
}

/** From how they are written down: a line for each table and function, its hash, then names and hashes of what belongs to it. */
export function readWrittenPrints(text: string): SchemaPrints {
  const prints: Record<string, string> = {};
  for (const line of text.trim().split("\n")) {
    const [table = "", hash = "", ...parts] = line.split(" ");
    prints[table] = hash;
    for (let at = 0; at < parts.length; at += 2) prints[`${table} ${parts[at]}`] = parts[at + 1] ?? "";
  }
  return prints;
}

export function compareSchema(found: SchemaPrints, expected: SchemaPrints): SchemaDifferences {
  const tablesOf = (keys: string[]) => [...new Set(keys.map((key) => key.split(" ", 1)[0] ?? key))];
  const changed = tablesOf(Object.keys(expected).filter((key) => found[key] !== expected[key]));
  const added = tablesOf(Object.keys(found).filter((key) => !Object.hasOwn(expected, key)));
  return { changed, added: added.filter((table) => !changed.includes(table)) };
}
