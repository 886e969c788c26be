/** A model's arguments for a call, which may be anything. */
import { type JsonObject, parseJsonObject } from "../../domain/json.ts";

/** In UTF-16 code units. */
const maxArgumentUnits = 64 * 1024;

/** Null for what is no JSON object. Some models write nothing where there is nothing to say. */
export function readArguments(text: string): JsonObject | null {
  if (text.trim() === "") return {};
  if (text.length > maxArgumentUnits) return null;
  return parseJsonObject(text);
}
