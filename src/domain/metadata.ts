/** The rules for metadata: any JSON object, bounded because every value in it is indexed. */
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

const maxBytes = 16 * 1024;
const maxDepth = 8;

/** A public sentence, or null if the metadata is valid. */
export function findMetadataProblem(metadata: JsonObject): string | null {
  if (!isWithin(metadata, maxDepth)) return `Must be at most ${maxDepth} levels deep, including itself.`;
  if (Buffer.byteLength(JSON.stringify(metadata), "utf8") > maxBytes) {
    return `Must be at most ${maxBytes / 1024} KiB of UTF-8 JSON.`;
  }
  if (!isClean(metadata))
    return "Names and texts must be well-formed without NUL characters, and numbers must be within range.";
  return null;
}

/** Call it before anything that calls itself for each level. */
export function isTooDeep(metadata: JsonObject): boolean {
  return !isWithin(metadata, maxDepth);
}

/** JSON Merge Patch (RFC 7396): null removes a member, objects are merged, anything else replaces. */
export function mergePatch(current: JsonObject, patch: JsonObject): JsonObject {
  const members = new Map(Object.entries(current));
  for (const [name, value] of Object.entries(patch)) {
    const before = members.get(name);
    if (value === null) members.delete(name);
    else members.set(name, isJsonObject(value) ? mergePatch(isJsonObject(before) ? before : {}, value) : value);
  }
  // Not by assignment: a member may be called `__proto__`.
  return Object.fromEntries(members);
}

/** Whether it is nested no deeper, itself counted. */
export function isWithin(value: JsonValue, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isWithin(part, levels - 1));
}

/**
 * Whether all names and texts are well-formed and without NUL, and all numbers within range. Check the depth first: it
 * calls itself for each level.
 */
export function isClean(value: JsonValue): boolean {
  // JSON.parse reads a number out of range as Infinity, which would be stored as null.
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, part]) => isClean(name) && isClean(part));
}

/** A value, with the path to it. */
export interface MetadataValue {
  path: string;
  value: string;
}

/** The same for no other; cheap, since a set of companions has tens of thousands. */
export function metadataKey({ path, value }: MetadataValue): string {
  return `${path.length} ${path}${value}`;
}

/**
 * Every value that filters find, once. Names are joined by dots, so that a path means nested fields or a name with dots
 * alike; arrays add nothing to the path; numbers, booleans and null are their JSON text, like strings.
 */
export function listMetadataValues(metadata: JsonObject): MetadataValue[] {
  const values = new Map<string, MetadataValue>();
  const visit = (path: string, value: JsonValue): void => {
    if (Array.isArray(value)) {
      for (const element of value) visit(path, element);
    } else if (typeof value === "object" && value !== null) {
      for (const [name, part] of Object.entries(value)) visit(`${path}.${name}`, part);
    } else {
      const found = { path, value: typeof value === "string" ? value : JSON.stringify(value) };
      values.set(metadataKey(found), found);
    }
  };
  for (const [name, value] of Object.entries(metadata)) visit(name, value);
  return [...values.values()];
}
