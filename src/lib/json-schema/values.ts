/** Keywords that ask something of one value: its type, what it equals, numbers and texts. */
import { Budget, type Check, isObject } from "./checking.ts";
import type { CompileKeyword, Keyword } from "./compiling.ts";

const types: Readonly<Record<string, { readonly name: string; readonly has: (value: unknown) => boolean }>> = {
  string: { name: "a string", has: (value) => typeof value === "string" },
  number: { name: "a number", has: (value) => typeof value === "number" },
  integer: { name: "an integer", has: Number.isInteger },
  boolean: { name: "true or false", has: (value) => typeof value === "boolean" },
  array: { name: "an array", has: Array.isArray },
  object: { name: "an object", has: isObject },
  null: { name: "null", has: (value) => value === null },
};
const maxListLength = 500;

export function readNumber({ value, fail }: Keyword): number {
  if (typeof value !== "number") throw fail("must be a number");
  return value;
}

export function readCount({ value, fail }: Keyword): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0)
    throw fail("must be an integer that is not negative");
  return value;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** `fits` is asked of numbers alone. */
function bound(fits: (value: number, limit: number) => boolean, words: string): CompileKeyword {
  return (keyword) => {
    const limit = readNumber(keyword);
    return (value, path) =>
      typeof value !== "number" || fits(value, limit) ? null : { path, text: `must be ${words} ${limit}` };
  };
}

/** In characters, not in units of UTF-16. */
function textBound(fits: (length: number, limit: number) => boolean, words: string): CompileKeyword {
  return (keyword) => {
    const limit = readCount(keyword);
    return (value, path, budget) => {
      if (typeof value !== "string") return null;
      budget.spend(value.length);
      let length = 0;
      for (const _ of value) length++;
      return fits(length, limit) ? null : { path, text: `must have ${words} ${plural(limit, "character")}` };
    };
  };
}

function equalsOneOf(values: readonly unknown[]): Check {
  const texts = new Set(values.map((value) => new Budget().canonical(value)));
  const list = values.map((value) => JSON.stringify(value)).join(", ");
  const named = list.length > maxListLength ? "one of the values that are listed" : `one of ${list}`;
  return (value, path, budget) =>
    texts.has(budget.canonical(value)) ? null : { path, text: `must be ${values.length === 1 ? list : named}` };
}

/** Divided numbers are not exact: `0.3` is a multiple of `0.1` to everyone but a computer. */
function isMultiple(value: number, divisor: number): boolean {
  const quotient = value / divisor;
  const rounded = Math.round(quotient);
  return Number.isFinite(quotient) && Math.abs(quotient - rounded) <= Math.abs(quotient) * 1e-12;
}

export const valueKeywords: Readonly<Record<string, CompileKeyword>> = {
  type({ value, fail }) {
    const names = new Set<unknown>(Array.isArray(value) ? value : [value]);
    const asked = [...names].map((name) => {
      const type = typeof name === "string" && Object.hasOwn(types, name) ? types[name] : undefined;
      if (type === undefined) throw fail(`must be one of ${Object.keys(types).join(", ")}, or a list of these`);
      return type;
    });
    const text = `must be ${asked.map((type) => type.name).join(" or ")}`;
    return (given, path) => (asked.some((type) => type.has(given)) ? null : { path, text });
  },
  enum({ value, fail }) {
    if (!Array.isArray(value)) throw fail("must be a list");
    return equalsOneOf(value);
  },
  const: ({ value }) => equalsOneOf([value]),
  minimum: bound((value, limit) => value >= limit, "at least"),
  maximum: bound((value, limit) => value <= limit, "at most"),
  exclusiveMinimum: bound((value, limit) => value > limit, "more than"),
  exclusiveMaximum: bound((value, limit) => value < limit, "less than"),
  multipleOf(keyword) {
    const divisor = readNumber(keyword);
    if (divisor <= 0) throw keyword.fail("must be more than 0");
    return (value, path) =>
      typeof value !== "number" || isMultiple(value, divisor)
        ? null
        : { path, text: `must be a multiple of ${divisor}` };
  },
  minLength: textBound((length, limit) => length >= limit, "at least"),
  maxLength: textBound((length, limit) => length <= limit, "at most"),
  pattern({ value, pattern, fail }) {
    if (typeof value !== "string") throw fail("must be a string");
    const compiled = pattern(value);
    const text = `must match the pattern ${value}`;
    return (given, path, budget) =>
      typeof given !== "string" || budget.matches(compiled, given) ? null : { path, text };
  },
};
