/** Reads JSON so that no two readers can understand it differently: each name once, bounded depth, clean texts. */
import type { JsonObject } from "../../domain/json.ts";
import { isClean } from "../../domain/metadata.ts";

const maxDepth = 32;

/** Null for anything else than an object that keeps these rules. */
export function readStrictObject(json: string): JsonObject | null {
  const value = parse(json);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  return isUnambiguous(json) && isClean(value as JsonObject) ? (value as JsonObject) : null;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;

/** `JSON.parse` keeps the last of several members with one name, other readers the first. The JSON must be valid. */
function isUnambiguous(json: string): boolean {
  /** The names so far in each open object; null for a list. */
  const open: (Set<string> | null)[] = [];
  for (const [text, colon] of json.matchAll(token)) {
    if (colon !== undefined) {
      const name: string = JSON.parse(text.slice(0, -colon.length));
      const names = open.at(-1);
      if (names?.has(name)) return false;
      names?.add(name);
    } else if (text === "{" || text === "[") {
      if (open.push(text === "{" ? new Set() : null) > maxDepth) return false;
    } else if (text === "}" || text === "]") {
      open.pop();
    }
  }
  return true;
}
