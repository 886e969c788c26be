/** Keywords that ask something of the members of objects and the items of arrays. */
import { type Budget, type Check, isObject, type JsonObject, type Path } from "./checking.ts";
import type { CompileKeyword, Keyword, SchemaNode } from "./compiling.ts";
import { plural, readCount } from "./values.ts";

function onObject(check: (value: JsonObject, ...rest: Tail<Parameters<Check>>) => ReturnType<Check>): Check {
  return (value, path, budget) => (isObject(value) ? check(value, path, budget) : null);
}

function onArray(check: (value: readonly unknown[], ...rest: Tail<Parameters<Check>>) => ReturnType<Check>): Check {
  return (value, path, budget) => (Array.isArray(value) ? check(value, path, budget) : null);
}

type Tail<List extends readonly unknown[]> = List extends [unknown, ...infer Rest] ? Rest : never;

function readObject({ value, fail }: Keyword): JsonObject {
  if (!isObject(value)) throw fail("must be an object");
  return value;
}

function readNames(value: unknown, { fail }: Keyword): readonly string[] {
  if (!Array.isArray(value) || !value.every((name) => typeof name === "string")) throw fail("must be a list of names");
  return value;
}

function nodesOf(keyword: Keyword, members: JsonObject): ReadonlyMap<string, SchemaNode> {
  return new Map(Object.entries(members).map(([name, schema]) => [name, keyword.node(schema, name)]));
}

function findMissing(value: JsonObject, names: readonly string[], path: Path, budget: Budget): ReturnType<Check> {
  budget.spend(names.length);
  const missing = names.find((name) => !Object.hasOwn(value, name));
  return missing === undefined ? null : { path: { outer: path, key: missing }, text: "is missing" };
}

function sizeBound(
  sizeOf: (value: unknown, budget: Budget) => number | null,
  noun: string,
  words: "at least" | "at most",
): CompileKeyword {
  return (keyword) => {
    const limit = readCount(keyword);
    return (value, path, budget) => {
      const size = sizeOf(value, budget);
      const fits = size === null || (words === "at least" ? size >= limit : size <= limit);
      return fits ? null : { path, text: `must have ${words} ${plural(limit, noun)}` };
    };
  };
}

const memberCount = (value: unknown, budget: Budget) => (isObject(value) ? budget.names(value).length : null);
const itemCount = (value: unknown) => (Array.isArray(value) ? value.length : null);

/** Items from `from` on. */
function eachItem(node: SchemaNode, from: number): Check {
  return onArray((items, path, budget) => {
    for (let at = from; at < items.length; at++) {
      const fault = node.check(items[at], { outer: path, key: at }, budget);
      if (fault !== null) return fault;
    }
    return null;
  });
}

const firstItems: CompileKeyword = (keyword) => {
  const { value, node, fail } = keyword;
  if (!Array.isArray(value)) throw fail("must be a list of schemas");
  const nodes = value.map((schema, at) => node(schema, at));
  return onArray((items, path, budget) => {
    for (const [at, asked] of nodes.entries()) {
      if (at >= items.length) break;
      const fault = asked.check(items[at], { outer: path, key: at }, budget);
      if (fault !== null) return fault;
    }
    return null;
  });
};

/** Those that have a name, and those that must not come without others. */
function dependent(keyword: Keyword, name: string, asked: unknown): Check {
  if (!Array.isArray(asked)) {
    const node = keyword.nodeInPlace(asked, name);
    return onObject((value, path, budget) => (Object.hasOwn(value, name) ? node.check(value, path, budget) : null));
  }
  const names = readNames(asked, keyword);
  return onObject((value, path, budget) =>
    Object.hasOwn(value, name) ? findMissing(value, names, path, budget) : null,
  );
}

const dependencies: CompileKeyword = (keyword) => {
  const checks = Object.entries(readObject(keyword)).map(([name, asked]) => dependent(keyword, name, asked));
  return (value, path, budget) => {
    budget.spend(checks.length);
    for (const check of checks) {
      const fault = check(value, path, budget);
      if (fault !== null) return fault;
    }
    return null;
  };
};

export const containerKeywords: Readonly<Record<string, CompileKeyword>> = {
  required(keyword) {
    const names = readNames(keyword.value, keyword);
    return onObject((value, path, budget) => findMissing(value, names, path, budget));
  },
  properties(keyword) {
    const nodes = nodesOf(keyword, readObject(keyword));
    return onObject((value, path, budget) => {
      budget.spend(nodes.size);
      for (const [name, node] of nodes) {
        if (!Object.hasOwn(value, name)) continue;
        const fault = node.check(value[name], { outer: path, key: name }, budget);
        if (fault !== null) return fault;
      }
      return null;
    });
  },
  patternProperties(keyword) {
    const asked = [...nodesOf(keyword, readObject(keyword))].map(([source, node]) => ({
      pattern: keyword.pattern(source),
      node,
    }));
    return onObject((value, path, budget) => {
      for (const { pattern, node } of asked) {
        for (const name of budget.names(value)) {
          const isMeant = budget.matches(pattern, name);
          const fault = isMeant ? node.check(value[name], { outer: path, key: name }, budget) : null;
          if (fault !== null) return fault;
        }
      }
      return null;
    });
  },
  additionalProperties(keyword) {
    const node = keyword.node(keyword.value);
    const { properties = {}, patternProperties = {} } = keyword.schema;
    const patterns = Object.keys(isObject(patternProperties) ? patternProperties : {}).map(keyword.pattern);
    return onObject((value, path, budget) => {
      for (const name of budget.names(value)) {
        const isNamed = isObject(properties) && Object.hasOwn(properties, name);
        if (isNamed || patterns.some((pattern) => budget.matches(pattern, name))) continue;
        const fault = node.check(value[name], { outer: path, key: name }, budget);
        if (fault !== null) return fault;
      }
      return null;
    });
  },
  propertyNames(keyword) {
    const node = keyword.node(keyword.value);
    return onObject((value, path, budget) => {
      for (const name of budget.names(value)) {
        const fault = node.check(name, { outer: path, key: name }, budget);
        if (fault !== null) return { path: fault.path, text: `has a name that ${fault.text}` };
      }
      return null;
    });
  },
  dependentRequired: dependencies,
  dependentSchemas: dependencies,
  dependencies,
  minProperties: sizeBound(memberCount, "member", "at least"),
  maxProperties: sizeBound(memberCount, "member", "at most"),
  minItems: sizeBound(itemCount, "item", "at least"),
  maxItems: sizeBound(itemCount, "item", "at most"),
  prefixItems: firstItems,
  // Before 2020-12, a list is what `prefixItems` is now.
  items(keyword) {
    const { value, schema } = keyword;
    if (Array.isArray(value)) return firstItems(keyword);
    const before = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"].length : 0;
    return eachItem(keyword.node(value), before);
  },
  additionalItems({ value, schema, node }) {
    return Array.isArray(schema["items"]) ? eachItem(node(value), schema["items"].length) : null;
  },
  contains({ value, schema, node, fail }) {
    const { minContains = 1, maxContains = Number.POSITIVE_INFINITY } = schema;
    if (typeof minContains !== "number" || typeof maxContains !== "number")
      throw fail("needs numbers for minContains and maxContains");
    const asked = node(value);
    return onArray((items, path, budget) => {
      const count = items.filter((item, at) => asked.check(item, { outer: path, key: at }, budget) === null).length;
      if (count < minContains) return { path, text: "has too few of the items that it must contain" };
      return count <= maxContains ? null : { path, text: "has too many of the items that it may contain" };
    });
  },
  uniqueItems({ value, fail }) {
    if (typeof value !== "boolean") throw fail("must be true or false");
    if (!value) return null;
    return onArray((items, path, budget) => {
      const seen = new Set(items.map((item) => budget.canonical(item)));
      return seen.size === items.length ? null : { path, text: "must not have two equal items" };
    });
  },
};
