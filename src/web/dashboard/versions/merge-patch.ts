/** JSON Merge Patches (RFC 7396). */
import { changedFields } from "../lib/api.ts";
import { isObject } from "../lib/json-text.ts";
import type { Json } from "../lib/types.ts";

/** What makes one the other. */
export function toMergePatch(before: Json, after: Json): Json {
  if (!isObject(before) || !isObject(after)) return after;
  const removed = Object.keys(before).filter((name) => !(name in after));
  const changed = Object.entries(changedFields(before, after)) as [string, Json][];
  return Object.fromEntries([
    ...removed.map((name) => [name, null]),
    ...changed.map(([name, value]) => [name, toMergePatch(before[name] ?? null, value)]),
  ]);
}
