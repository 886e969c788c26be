/** The groups of usage: their order, the dimensions of the tables that they need, and the position of a row among others. */
import type { UsageGroup, UsagePosition } from "../../../contracts/store/usage.ts";
import type { JsonObject, JsonValue } from "../../../domain/companion.ts";
import { sha256Hex } from "../../../lib/sha256.ts";

/** What the tables of usage can be summed by. */
export type UsageDimension = Exclude<UsageGroup, `metadata.${string}`> | "label";

const dimensions = ["day", "companion", "key", "month", "model", "provider"] as const;
const prefix = "metadata.";

/** In the order of rows; fields of metadata last, in their own. */
export function orderGroups(groupBy: readonly UsageGroup[]): UsageGroup[] {
  return [...dimensions.filter((name) => groupBy.includes(name)), ...groupBy.filter(isMetadata)];
}

export function isMetadata(group: UsageGroup): group is `metadata.${string}` {
  return group.startsWith(prefix);
}

/** `needsLabel`: also the label, for a filter. */
export function dimensionsOf(groupBy: readonly UsageGroup[], needsLabel = false): UsageDimension[] {
  const asked: UsageDimension[] = dimensions.filter((name) => groupBy.includes(name));
  return needsLabel || groupBy.some(isMetadata) ? [...asked, "label"] : asked;
}

/**
 * The values of the groups `metadata.<path>`. A text is itself, anything else its JSON text; null where there is none.
 * Lists have no fields of their own: else a message would be in several groups, and the sums would not add up.
 */
export function readFields(metadata: JsonObject, groupBy: readonly UsageGroup[]): (string | null)[] {
  return groupBy.filter(isMetadata).map((group) => {
    const value = findField(metadata, group.slice(prefix.length));
    if (value === undefined || value === null) return null;
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}

function findField(object: JsonObject, path: string): JsonValue | undefined {
  if (Object.hasOwn(object, path)) return object[path];
  for (let dot = path.lastIndexOf("."); dot > 0; dot = path.lastIndexOf(".", dot - 1)) {
    const name = path.slice(0, dot);
    const part = Object.hasOwn(object, name) ? object[name] : undefined;
    if (typeof part !== "object" || part === null || Array.isArray(part)) continue;
    const found = findField(part, path.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Longer values stand in a position by their start and a digest: positions travel in addresses. */
const maxValue = 100;

export function shortenValue(value: string | null): string | null {
  if (value === null || value.length <= maxValue) return value;
  return `${value.slice(0, maxValue)} ${sha256Hex(value)}`;
}

/** Null first, texts by their UTF-16 code units: the same on every engine. */
export function comparePositions(one: UsagePosition, other: UsagePosition): number {
  for (const [at, value] of one.entries()) {
    const against = other[at] ?? null;
    if (value === against) continue;
    if (value === null) return -1;
    return against === null || value > against ? 1 : -1;
  }
  return 0;
}
