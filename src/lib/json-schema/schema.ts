/**
 * Checks values against JSON Schemas of strangers (2020-12, and 2019-09 and draft-07 as far as they are written today), in
 * bounded time, with faults that can be read.
 */
import { Budget, depthOf, describeFault, type Fault, isObject, type Path, TooMuch } from "./checking.ts";
import { Compilation, type CompileKeyword, type Keyword, SchemaFault } from "./compiling.ts";
import { containerKeywords } from "./containers.ts";
import { valueKeywords } from "./values.ts";

export { SchemaFault };

export interface CompiledSchema {
  /** Of a value as `JSON.parse` gives it: null if it fits, and otherwise one sentence with what does not. */
  check(value: unknown): string | null;
}

/**
 * Rejects with `SchemaFault`, whose message is one sentence with the position. `$ref` leads to parts of the schema alone.
 * Patterns are RE2's (`lib/linear-pattern.ts`). `format` and what is unknown ask for nothing, as the standard has it.
 */
export async function compileSchema(schema: unknown): Promise<CompiledSchema> {
  const root = await new Compilation(schema, keywords).compile();
  return {
    check(value) {
      try {
        const fault = root.check(value, null, new Budget());
        return fault && describeFault(fault);
      } catch (error) {
        if (error instanceof TooMuch) return describeFault({ path: null, text: error.message });
        throw error;
      }
    },
  };
}

function readSchemas({ value, fail }: Keyword): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw fail("must be a list of schemas");
  return value;
}

/** Of forms none of which fits: the fault that lies deepest, in the form that the value came closest to. */
function closest(faults: readonly Fault[], path: Path): Fault | null {
  const found = faults.toSorted((one, other) => depthOf(other.path) - depthOf(one.path))[0] ?? null;
  if (found?.path !== path) return found;
  const texts = [...new Set(faults.map(({ text }) => text))];
  return { path, text: texts.slice(0, 5).join(", or ") };
}

const unsupported: CompileKeyword = ({ fail }) => {
  throw fail("is a keyword that is not supported");
};

/** Schemas that others refer to: compiled too, so that their faults are found. */
const definitions: CompileKeyword = ({ value, node, fail }) => {
  if (!isObject(value)) throw fail("must be an object");
  for (const [name, schema] of Object.entries(value)) node(schema, name);
  return null;
};

const keywords: Readonly<Record<string, CompileKeyword>> = {
  $id({ value, isInRoot, fail }) {
    // From there on, references would lead elsewhere.
    if (typeof value !== "string" || !(isInRoot || value.startsWith("#"))) throw fail("is only supported in the root");
    return null;
  },
  $defs: definitions,
  definitions,
  $dynamicRef: unsupported,
  $recursiveRef: unsupported,
  unevaluatedProperties: unsupported,
  unevaluatedItems: unsupported,
  $ref({ value, follow, fail }) {
    if (typeof value !== "string") throw fail("must be a string");
    const node = follow(value);
    return (given, path, budget) => node.check(given, path, budget);
  },
  ...valueKeywords,
  ...containerKeywords,
  allOf(keyword) {
    const nodes = readSchemas(keyword).map((schema, at) => keyword.nodeInPlace(schema, at));
    return (value, path, budget) => {
      for (const node of nodes) {
        const fault = node.check(value, path, budget);
        if (fault !== null) return fault;
      }
      return null;
    };
  },
  anyOf(keyword) {
    const nodes = readSchemas(keyword).map((schema, at) => keyword.nodeInPlace(schema, at));
    return (value, path, budget) => {
      const faults: Fault[] = [];
      for (const node of nodes) {
        const fault = node.check(value, path, budget);
        if (fault === null) return null;
        faults.push(fault);
      }
      return closest(faults, path);
    };
  },
  oneOf(keyword) {
    const nodes = readSchemas(keyword).map((schema, at) => keyword.nodeInPlace(schema, at));
    return (value, path, budget) => {
      const faults = nodes.flatMap((node) => node.check(value, path, budget) ?? []);
      const fitting = nodes.length - faults.length;
      if (fitting === 1) return null;
      return fitting === 0
        ? closest(faults, path)
        : { path, text: "has several of the forms of which it must have one" };
    };
  },
  not({ value, nodeInPlace }) {
    const node = nodeInPlace(value);
    return (given, path, budget) =>
      node.check(given, path, budget) === null ? { path, text: "has a form that it must not have" } : null;
  },
  if({ value, nodeInPlace, siblingInPlace }) {
    const condition = nodeInPlace(value);
    const [met, unmet] = [siblingInPlace("then"), siblingInPlace("else")];
    return (given, path, budget) => {
      const node = condition.check(given, path, budget) === null ? met : unmet;
      return node?.check(given, path, budget) ?? null;
    };
  },
};
