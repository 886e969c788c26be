/** What metadata may hold: any JSON object, bounded because every value in it is indexed. */
import type { JsonObject, JsonValue } from "./companion.ts";

const maxBytes = 16 * 1024;
const maxDepth = 8;

/** A public sentence, or null for acceptable metadata. */
export function findMetadataProblem(metadata: JsonObject): string | null {
  if (!isWithin(metadata, maxDepth)) return `Must be at most ${maxDepth} levels deep, itself included.`;
  if (Buffer.byteLength(JSON.stringify(metadata), "utf8") > maxBytes) {
    return `Must be at most ${maxBytes / 1024} KiB of UTF-8 JSON.`;
  }
  if (!isClean(metadata))
    return "Names and texts must be well-formed and without NUL characters, numbers within range.";
  return null;
}

function isWithin(value: JsonValue, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isWithin(part, levels - 1));
}

/** Called after the depth is known to be small. */
function isClean(value: JsonValue): boolean {
  // A number out of range is read as infinite and would be kept as null.
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, part]) => isClean(name) && isClean(part));
}
