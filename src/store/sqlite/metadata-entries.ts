/** Which filters a companion's metadata answers to: each of its values, by the path that leads to it. */
import type { JsonObject, JsonValue } from "../../domain/companion.ts";
import { sha256Hex } from "../../lib/sha256.ts";

/** A path and a value as the index keeps them. */
export interface MetadataEntry {
  path: string;
  value: string;
}

/** Longer texts would make index rows spill over; they are kept as a digest, and compared as one. */
const longestText = 120;

/** Texts of metadata hold no NUL, so that a digest is never mistaken for a text. */
export function toIndexText(text: string): string {
  return text.length > longestText || text.startsWith("\0") ? `\0${sha256Hex(text)}` : text;
}

/**
 * Every filter that matches, once: names are joined by dots, so that one path stands for a descent and for a name with
 * dots in it alike; arrays add nothing to the path; numbers, booleans and null stand as their JSON text, beside strings.
 */
export function listMetadataEntries(metadata: JsonObject): MetadataEntry[] {
  const entries = new Map<string, MetadataEntry>();
  const visit = (path: string, value: JsonValue): void => {
    if (Array.isArray(value)) {
      for (const element of value) visit(path, element);
    } else if (typeof value === "object" && value !== null) {
      for (const [name, part] of Object.entries(value)) visit(`${path}.${name}`, part);
    } else {
      const entry = {
        path: toIndexText(path),
        value: toIndexText(typeof value === "string" ? value : JSON.stringify(value)),
      };
      entries.set(JSON.stringify([entry.path, entry.value]), entry);
    }
  };
  for (const [name, value] of Object.entries(metadata)) visit(name, value);
  return [...entries.values()];
}
