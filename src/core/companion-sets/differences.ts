/** What files want of a companion against what it is, and what someone else changed since the files were applied last. */
import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";

/**
 * A field, or with `tools.<name>` or `sources.<slug>` one entry of a list. Of entries each member is compared individually:
 * what a file does not name of a tool is not the file's.
 */
export interface Unit {
  readonly field: string;
  /** As the file has it; undefined for an entry that its list lacks. */
  readonly wanted: JsonValue | undefined;
  /** Undefined for an entry that is not there. */
  readonly now: JsonValue | undefined;
  /** As it was applied last; undefined if it was not named then. */
  readonly applied: JsonValue | undefined;
  /** Of an entry: whether its list was applied before, so that one which was not in it was added by someone else. */
  readonly wasListed: boolean;
}

export interface Change {
  readonly field: string;
  readonly from: JsonValue;
  readonly to: JsonValue;
}

export interface Difference {
  readonly change: Change;
  /** Null where no one else changed it. */
  readonly drift: { readonly field: string; readonly applied: JsonValue; readonly now: JsonValue } | null;
}

/** Null where it is as wanted already, no matter who made it so. */
export function findDifference(unit: Unit): Difference | null {
  const { field, wanted, now, applied } = unit;
  const isEntry = /^(tools|sources)\./.test(field);
  return isEntry ? compareEntries(unit, { wanted, now, applied }) : compareValues(unit);
}

function compareValues({ field, wanted = null, now = null, applied }: Unit): Difference | null {
  if (isSame(wanted, now)) return null;
  const isDrift = applied !== undefined && !isSame(applied, now);
  return { change: { field, from: now, to: wanted }, drift: isDrift ? { field, applied, now } : null };
}

function compareEntries(
  { field, wasListed }: Unit,
  values: Pick<Unit, "wanted" | "now" | "applied">,
): Difference | null {
  const [wanted, now, applied] = [values.wanted, values.now, values.applied].map((one) =>
    isJsonObject(one) ? one : undefined,
  );
  if (wanted === undefined && now === undefined) return null;
  if (wanted === undefined || now === undefined) {
    const names = wanted === undefined ? Object.keys(applied ?? {}) : [];
    const isTouched =
      now === undefined ? applied !== undefined : applied === undefined ? wasListed : differs(names, applied, now);
    const drift = isTouched ? { field, applied: applied ?? null, now: now ?? null } : null;
    return { change: { field, from: now ?? null, to: wanted ?? null }, drift };
  }
  const names = Object.keys(wanted).filter((name) => !isSame(wanted[name], now[name]));
  if (names.length === 0) return null;
  const known = names.filter((name) => applied !== undefined && Object.hasOwn(applied, name));
  const isTouched = applied !== undefined && differs(known, applied, now);
  const change = { field, from: pick(now, Object.keys(wanted)), to: wanted };
  return { change, drift: isTouched ? { field, applied: pick(applied, known), now: pick(now, known) } : null };
}

function differs(names: readonly string[], one: JsonObject, other: JsonObject): boolean {
  return names.some((name) => !isSame(one[name], other[name]));
}

function pick(value: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, value[name] ?? null]));
}

/** Members in another order are the same; a member that is missing is null. */
export function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return isDeepStrictEqual(one ?? null, other ?? null);
}
