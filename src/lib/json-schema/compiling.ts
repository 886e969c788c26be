/** What compiling a schema takes: its parts as nodes, each once, and faults with the position of what is wrong. */
import { compilePattern, type LinearPattern, maxPatternSteps, PatternFault } from "../linear-pattern.ts";
import { type Budget, type Check, type Fault, isObject, type JsonObject, type Path } from "./checking.ts";

/** The message is one sentence with the position, for the author of the schema. */
export class SchemaFault extends Error {
  constructor(pointer: string, text: string) {
    super(`At ${pointer.length > maxPointerLength ? `${pointer.slice(0, maxPointerLength)}…` : pointer}: ${text}.`);
    this.name = "SchemaFault";
  }
}

const maxPointerLength = 200;

/** A schema: what it asks of a value. */
export class SchemaNode {
  readonly pointer: string;
  checks: readonly Check[] = [];
  /** Those that are asked of the same value: a circle of them would never end. */
  readonly inPlace: SchemaNode[] = [];

  constructor(pointer: string) {
    this.pointer = pointer;
  }

  check(value: unknown, path: Path, budget: Budget): Fault | null {
    budget.enter();
    for (const check of this.checks) {
      const fault = check(value, path, budget);
      if (fault !== null) {
        budget.leave();
        return fault;
      }
    }
    budget.leave();
    return null;
  }
}

/** One keyword of one schema. */
export interface Keyword {
  readonly value: unknown;
  /** The schema that it is in. */
  readonly schema: JsonObject;
  readonly isInRoot: boolean;
  /** The schema at a path below this keyword; `keys` is empty for its value itself. */
  node(given: unknown, ...keys: (string | number)[]): SchemaNode;
  /** The same, of a schema that is asked of the same value. */
  nodeInPlace(given: unknown, ...keys: (string | number)[]): SchemaNode;
  /** The schema under another keyword, which is asked of the same value; null if there is none. */
  siblingInPlace(name: string): SchemaNode | null;
  /** The node that a reference leads to. */
  follow(reference: string): SchemaNode;
  pattern(source: string): LinearPattern;
  fail(what: string): SchemaFault;
}

/** Null where the value asks for nothing. Throws `SchemaFault`. */
export type CompileKeyword = (keyword: Keyword) => Check | null;

const maxDepth = 64;
/** Of all patterns of a schema. */
const maxStepsOfPatterns = 2 * maxPatternSteps;

export class Compilation {
  readonly #root: unknown;
  readonly #keywords: Readonly<Record<string, CompileKeyword>>;
  readonly #patterns = new Map<string, LinearPattern | PatternFault>();
  #patternSteps = 0;
  readonly #nodes = new Map<object, SchemaNode>();
  readonly #anchors = new Map<string, JsonObject>();

  constructor(root: unknown, keywords: Readonly<Record<string, CompileKeyword>>) {
    this.#root = root;
    this.#keywords = keywords;
  }

  /** Rejects with `SchemaFault`. */
  async compile(): Promise<SchemaNode> {
    await this.#prepare(this.#root, "#", 0);
    const root = this.#compile(this.#root, "#");
    const ending = new Set<SchemaNode>();
    for (const node of this.#nodes.values()) refuseCircle(node, ending, new Set());
    return root;
  }

  /** Searches everything, schema or not: a reference may lead anywhere, and compiling cannot wait. */
  async #prepare(value: unknown, pointer: string, depth: number): Promise<void> {
    if (depth > maxDepth) throw new SchemaFault(pointer, "the schema is nested too deeply");
    if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) await this.#prepare(item, `${pointer}/${at}`, depth + 1);
    } else if (isObject(value)) {
      const { $anchor, $id } = value;
      const anchor =
        typeof $anchor === "string" ? $anchor : typeof $id === "string" && $id[0] === "#" ? $id.slice(1) : null;
      if (anchor !== null && !this.#anchors.has(anchor)) this.#anchors.set(anchor, value);
      const { pattern, patternProperties } = value;
      if (typeof pattern === "string") await this.#preparePattern(pattern);
      if (isObject(patternProperties))
        for (const source of Object.keys(patternProperties)) await this.#preparePattern(source);
      for (const [name, member] of Object.entries(value))
        await this.#prepare(member, `${pointer}/${escapeKey(name)}`, depth + 1);
    }
  }

  async #preparePattern(source: string): Promise<void> {
    if (this.#patterns.has(source)) return;
    try {
      const pattern = await compilePattern(source, Math.min(maxPatternSteps, maxStepsOfPatterns - this.#patternSteps));
      this.#patternSteps += pattern.steps;
      this.#patterns.set(source, pattern);
    } catch (error) {
      if (!(error instanceof PatternFault)) throw error;
      // Perhaps it is none: a default may have members of any name.
      this.#patterns.set(source, error);
    }
  }

  #compile(schema: unknown, pointer: string): SchemaNode {
    if (typeof schema === "boolean") {
      const node = new SchemaNode(pointer);
      if (!schema) node.checks = [(_, path) => ({ path, text: "is not allowed" })];
      return node;
    }
    if (!isObject(schema)) throw new SchemaFault(pointer, "must be a schema, which is an object or a boolean");
    const known = this.#nodes.get(schema);
    if (known !== undefined) return known;
    const node = new SchemaNode(pointer);
    this.#nodes.set(schema, node);
    node.checks = Object.entries(this.#keywords).flatMap(([name, compile]) => {
      if (!Object.hasOwn(schema, name)) return [];
      return compile(this.#keyword(node, schema, name)) ?? [];
    });
    return node;
  }

  #keyword(inside: SchemaNode, schema: JsonObject, name: string): Keyword {
    const pointer = `${inside.pointer}/${escapeKey(name)}`;
    const fail = (what: string) => new SchemaFault(pointer, what);
    const node: Keyword["node"] = (given, ...keys) =>
      this.#compile(given, [pointer, ...keys.map((key) => escapeKey(String(key)))].join("/"));
    const inPlace = (found: SchemaNode) => {
      inside.inPlace.push(found);
      return found;
    };
    return {
      value: schema[name],
      schema,
      isInRoot: schema === this.#root,
      node,
      nodeInPlace: (given, ...keys) => inPlace(node(given, ...keys)),
      siblingInPlace: (other) =>
        Object.hasOwn(schema, other) ? inPlace(this.#compile(schema[other], `${inside.pointer}/${other}`)) : null,
      follow: (reference) => inPlace(this.#follow(reference, fail)),
      pattern: (source) => {
        const pattern = this.#patterns.get(source);
        if (pattern === undefined || pattern instanceof PatternFault)
          throw fail(pattern?.message ?? "must be a pattern");
        return pattern;
      },
      fail,
    };
  }

  #follow(reference: string, fail: Keyword["fail"]): SchemaNode {
    if (!reference.startsWith("#")) throw fail("must lead to a part of this schema, such as #/$defs/name");
    const fragment = decode(reference.slice(1));
    if (fragment === null) throw fail("is not a reference");
    if (fragment !== "" && !fragment.startsWith("/")) {
      const found = this.#anchors.get(fragment);
      if (found === undefined) throw fail("leads to nothing");
      return this.#compile(found, `#${fragment}`);
    }
    let found = this.#root;
    for (const key of fragment.split("/").slice(1)) {
      const name = key.replaceAll("~1", "/").replaceAll("~0", "~");
      const isThere = typeof found === "object" && found !== null && Object.hasOwn(found, name);
      if (!isThere) throw fail("leads to nothing");
      found = (found as JsonObject)[name];
    }
    return this.#compile(found, reference);
  }
}

function decode(fragment: string): string | null {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return null;
  }
}

function escapeKey(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** `ending` are those of which it is known that they end; `around`, those on the path to this one. */
function refuseCircle(node: SchemaNode, ending: Set<SchemaNode>, around: Set<SchemaNode>): void {
  if (ending.has(node)) return;
  if (around.has(node)) throw new SchemaFault(node.pointer, "the schema refers to itself without end");
  around.add(node);
  for (const next of node.inPlace) refuseCircle(next, ending, around);
  around.delete(node);
  ending.add(node);
}
