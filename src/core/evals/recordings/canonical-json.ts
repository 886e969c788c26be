/** JSON in one form for all values that are equal: members in the order of their names. */
import { isJsonObject, type JsonValue } from "../../../domain/json.ts";

export function toCanonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${toCanonicalJson(value[name] ?? null)}`);
  return `{${members.join()}}`;
}
