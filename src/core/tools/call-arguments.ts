/** A model's arguments for a call, which may be anything. */
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { compileSchema } from "../../lib/json-schema/json-schema.ts";

/** Of arguments, in UTF-16 code units. */
const maxArgumentUnits = 64 * 1024;

/** Null for what is no JSON object. Some models write nothing where there is nothing to say. */
export function readArguments(text: string): JsonObject | null {
  if (text.trim() === "") return {};
  if (text.length > maxArgumentUnits) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** What is wrong with them, as a sentence for the model; null for nothing. */
export function findArgumentFault(schema: JsonObject, given: JsonObject): string | null {
  return compileSchema(schema).check(given);
}
