/** JSON Schemas of strangers: what fits, what a model is told, what is refused, and what nobody can make expensive. */
import { expect, test } from "bun:test";
import Ajv from "ajv";
import Ajv2020 from "ajv/dist/2020";
import { compileSchema } from "../../src/lib/json-schema/schema.ts";
import { createRandom } from "../support/random.ts";

async function check(schema: unknown, value: unknown): Promise<string | null> {
  return (await compileSchema(schema)).check(value);
}

async function faultOf(schema: unknown): Promise<string> {
  return await compileSchema(schema).then(
    () => "",
    (error: Error) => {
      expect(error.name).toBe("SchemaFault");
      return error.message;
    },
  );
}

function conditional(...schemas: [unknown, unknown, unknown]): Record<string, unknown> {
  return Object.fromEntries(["if", "then", "else"].map((name, at) => [name, schemas[at]]));
}

const booking = {
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "object",
  properties: {
    date: { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\d$" },
    guests: { type: "integer", minimum: 1, maximum: 8 },
    unit: { enum: ["c", "f"] },
    note: { anyOf: [{ type: "string", maxLength: 3 }, { type: "null" }] },
    items: { type: "array", maxItems: 2, items: { $ref: "#/definitions/item" } },
    "a.b": { const: { x: 1 } },
  },
  required: ["date"],
  additionalProperties: false,
  definitions: { item: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } },
};

test.each([
  [{ date: "2026-11-27", guests: 2, unit: "c", note: null, items: [{ name: "a" }], "a.b": { x: 1 } }, null],
  [[], "The value must be an object."],
  [{}, '"date" is missing.'],
  [{ date: 1 }, '"date" must be a string.'],
  [{ date: "tomorrow" }, '"date" must match the pattern ^\\d{4}-\\d\\d-\\d\\d$.'],
  [{ date: "2026-11-27", guests: 1.5 }, '"guests" must be an integer.'],
  [{ date: "2026-11-27", guests: 0 }, '"guests" must be at least 1.'],
  [{ date: "2026-11-27", unit: "k" }, '"unit" must be one of "c", "f".'],
  [{ date: "2026-11-27", note: 1 }, '"note" must be a string, or must be null.'],
  [{ date: "2026-11-27", note: "👋👋👋👋" }, '"note" must have at most 3 characters, or must be null.'],
  [{ date: "2026-11-27", note: "👋👋👋" }, null],
  [{ date: "2026-11-27", items: [{ name: "a" }, {}] }, '"items[1].name" is missing.'],
  [{ date: "2026-11-27", items: [1, 2, 3] }, '"items" must have at most 2 items.'],
  [{ date: "2026-11-27", "a.b": { x: 2 } }, '"a.b" must be {"x":1}.'],
  [{ date: "2026-11-27", toString: 1 }, '"toString" is not allowed.'],
  [JSON.parse('{"date":"2026-11-27","__proto__":1}'), '"__proto__" is not allowed.'],
])("of %j says %j", async (value, said) => {
  expect(await check(booking, value)).toBe(said);
});

test.each([
  [{ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 2, "The value has several of the forms of which it must have one."],
  [{ oneOf: [{ properties: { a: { const: 1 } } }, { type: "string" }] }, { a: 2 }, '"a" must be 1.'],
  [{ not: { type: "string" } }, "a", "The value has a form that it must not have."],
  [conditional({ type: "string" }, { minLength: 2 }, { minimum: 2 }), 1, "The value must be at least 2."],
  [{ dependentRequired: { a: ["b"] } }, { a: 1 }, '"b" is missing.'],
  [{ dependencies: { a: { required: ["c"] } } }, { a: 1 }, '"c" is missing.'],
  [{ propertyNames: { maxLength: 2 } }, { abc: 1 }, '"abc" has a name that must have at most 2 characters.'],
  [{ prefixItems: [true], items: { type: "string" } }, [1, 2], '"[1]" must be a string.'],
  [{ items: [{}], additionalItems: false }, [1, 2], '"[1]" is not allowed.'],
  [{ contains: { const: 1 }, minContains: 2 }, [1], "The value has too few of the items that it must contain."],
  [
    { uniqueItems: true },
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    "The value must not have two equal items.",
  ],
  [{ multipleOf: 0.01 }, 0.07, null],
  [{ multipleOf: 0.01 }, 0.075, "The value must be a multiple of 0.01."],
  [{ $ref: "#name", $defs: { a: { $anchor: "name", type: "null" } } }, 1, "The value must be null."],
  [{ $ref: "#/$defs/a~1b%25", $defs: { "a/b%": false } }, 1, "The value is not allowed."],
  [{ format: "date", nullable: true, default: { pattern: "(" } }, "a", null],
])("%j asks %j for what it says", async (schema, value, said) => {
  expect(await check(schema, value)).toBe(said);
});

test.each([
  [1, "At #: must be a schema, which is an object or a boolean."],
  [
    { type: "strin" },
    "At #/type: must be one of string, number, integer, boolean, array, object, null, or a list of these.",
  ],
  [{ properties: { a: 1 } }, "At #/properties/a: must be a schema, which is an object or a boolean."],
  [
    { properties: { "a/b": { pattern: "(?=a)" } } },
    "At #/properties/a~1b/pattern: looks ahead or behind, which is not supported.",
  ],
  [{ patternProperties: { "(": {} } }, "At #/patternProperties: is no regular expression of RE2's syntax."],
  [{ minimum: 0, exclusiveMinimum: true }, "At #/exclusiveMinimum: must be a number."],
  [{ minLength: -1 }, "At #/minLength: must be an integer that is not negative."],
  [{ required: "a" }, "At #/required: must be a list of names."],
  [{ enum: "a" }, "At #/enum: must be a list."],
  [{ anyOf: [] }, "At #/anyOf: must be a list of schemas."],
  [{ $ref: "https://example.com/schema" }, "At #/$ref: must lead to a part of this schema, such as #/$defs/name."],
  [{ $ref: "#/$defs/a" }, "At #/$ref: leads to nothing."],
  [{ $ref: "#/constructor" }, "At #/$ref: leads to nothing."],
  [{ $ref: "#a" }, "At #/$ref: leads to nothing."],
  [{ $ref: "#/%" }, "At #/$ref: is not a reference."],
  [{ $ref: "#" }, "At #: the schema refers to itself without end."],
  [
    { $defs: { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { not: { $ref: "#/$defs/a" } } } },
    "At #/$defs/a: the schema refers to itself without end.",
  ],
  [{ $defs: { a: { type: "x" } } }, "At #/$defs/a/type: must be one of string, number"],
  [{ properties: { a: { $id: "https://example.com/a" } } }, "At #/properties/a/$id: is only supported in the root."],
  [{ unevaluatedProperties: false }, "At #/unevaluatedProperties: is a keyword that is not supported."],
])("refuses %j", async (schema, fault) => {
  expect(await faultOf(schema)).toStartWith(fault);
});

test("refuses what is nested too deeply, and patterns that repeat too much in all", async () => {
  let deep: unknown = {};
  for (let level = 0; level < 100; level++) deep = { properties: { a: deep } };
  expect(await faultOf(deep)).toEndWith("the schema is nested too deeply.");
  const patternProperties = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`.{1000}.{1000}${at}`, {}]));
  expect(await faultOf({ patternProperties })).toBe("At #/patternProperties: repeats too much.");
});

/** 2^40 ways lead through it to the definition. */
function doubling(): { $ref: string; $defs: Record<string, unknown> } {
  const $defs: Record<string, unknown> = { d40: { type: "string" } };
  for (let level = 0; level < 40; level++) {
    const $ref = `#/$defs/d${level + 1}`;
    $defs[`d${level}`] = { allOf: [{ $ref }, { $ref }] };
  }
  return { $ref: "#/$defs/d0", $defs };
}

test("gives up on what takes too long, and takes nothing of it for fitting or not fitting", async () => {
  const late = "The value takes too long to be checked.";
  expect(await check(doubling(), "a")).toBe(late);
  const { $ref, $defs } = doubling();
  expect(await check({ not: { $ref }, $defs }, "a")).toBe(late);
  expect(await check({ anyOf: [{ $ref }, true], $defs }, "a")).toBe(late);
  const many = Array.from({ length: 20_000 }, () => ({}));
  expect(await check({ items: { allOf: Array.from({ length: 100 }, () => ({ minProperties: 0 })) } }, many)).toBe(late);
  const members = Object.fromEntries(many.map((_, at) => [`member${at}`, at]));
  expect(await check({ allOf: Array.from({ length: 500 }, () => ({ minProperties: 0 })) }, members)).toBe(late);
  const slow = { items: { pattern: "^.{1,1000}.{1,1000}.{1,1000}$" } };
  expect(await check(slow, ["a".repeat(10_000)])).toBe(late);
  const node = { $ref: "#/$defs/node", $defs: { node: { properties: { a: { $ref: "#/$defs/node" } } } } };
  const nested = JSON.parse(`${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`);
  expect(await check(node, nested)).toBe("The value is nested too deeply.");
  expect(await check({ enum: [1] }, nested)).toBe("The value is nested too deeply.");
  expect(await check(node, { a: { a: { a: 1 } } })).toBeNull();
});

/** Schemas that every implementation understands, and values that come near to fitting. */
function createGenerator(seed: number) {
  const { below, pick } = createRandom(seed);
  const names = ["a", "b", "c"] as const;
  const value = (depth: number): unknown => {
    const kind = below(depth > 2 ? 5 : 7);
    if (kind === 0) return null;
    if (kind === 1) return pick([true, false]);
    if (kind === 2) return pick([0, 1, 2, 3, 1.5, -1]);
    if (kind < 5) return pick(["", "a", "b", "ab", "👋", "abc"]);
    if (kind === 5) return Array.from({ length: below(4) }, () => value(depth + 1));
    return Object.fromEntries(Array.from({ length: below(4) }, () => [pick(names), value(depth + 1)]));
  };
  const schemas = (depth: number) => Array.from({ length: 1 + below(3) }, () => schema(depth + 1));
  const members = (depth: number) => Object.fromEntries(names.slice(below(3)).map((name) => [name, schema(depth + 1)]));
  const types = ["string", "number", "integer", "boolean", "array", "object", "null"] as const;
  const keywords: readonly [(depth: number) => object, ...((depth: number) => object)[]] = [
    () => ({ type: pick(types) }),
    () => ({ type: [...new Set([pick(types), pick(types)])] }),
    () => ({ enum: [value(1), `x${below(9)}`] }),
    () => ({ const: value(1) }),
    () => ({ minimum: below(3), exclusiveMaximum: 1 + below(3) }),
    () => ({ multipleOf: pick([1, 2, 0.5]) }),
    () => ({ minLength: below(2), maxLength: 1 + below(2) }),
    () => ({ pattern: pick(["^a", "b$", "^[ab]*$", "."]) }),
    (depth) => ({ properties: members(depth), additionalProperties: schema(depth + 1) }),
    (depth) => ({ patternProperties: { "^[ab]$": schema(depth + 1) }, additionalProperties: schema(depth + 1) }),
    () => ({ required: names.slice(below(3)) }),
    () => ({ minProperties: below(2), maxProperties: 1 + below(3) }),
    (depth) => ({ propertyNames: schema(depth + 1) }),
    (depth) => ({ items: schema(depth + 1) }),
    () => ({ minItems: below(2), maxItems: 1 + below(3) }),
    () => ({ uniqueItems: true }),
    (depth) => ({ contains: schema(depth + 1) }),
    (depth) => ({ allOf: schemas(depth) }),
    (depth) => ({ anyOf: schemas(depth) }),
    (depth) => ({ oneOf: schemas(depth) }),
    (depth) => ({ not: schema(depth + 1) }),
    (depth) => conditional(schema(depth + 1), schema(depth + 1), schema(depth + 1)),
    () => ({ $ref: "#/definitions/shared" }),
  ];
  const schema = (depth: number): unknown => {
    if (below(8) === 0 || depth > 3) return pick([true, false, {}]);
    return Object.assign({}, ...Array.from({ length: 1 + below(2) }, () => pick(keywords)(depth)));
  };
  return {
    value: () => value(0),
    schema: () => ({ ...(schema(0) as object), definitions: { shared: { minimum: 1, maxLength: 1 } } }),
  };
}

test("judges as another implementation does, of generated schemas and values", async () => {
  const { value, schema } = createGenerator(36);
  const verdicts = { fits: 0, not: 0 };
  const versions = [new Ajv({ strict: false }), new Ajv2020({ strict: false })];
  for (let round = 0; round < 200; round++) {
    const given = schema();
    const own = await compileSchema(given);
    const others = versions.map((ajv) => ajv.compile(given));
    for (let at = 0; at < 20; at++) {
      const sample = value();
      const fits = own.check(sample) === null;
      verdicts[fits ? "fits" : "not"]++;
      for (const other of others) {
        if (other(sample) !== fits) expect({ given, sample, fits }).toEqual({ given, sample, fits: !fits });
      }
    }
  }
  expect(Math.min(verdicts.fits, verdicts.not)).toBeGreaterThan(1000);
});

test("takes any JSON for a schema, or says what is wrong with it", async () => {
  const { below, pick } = createRandom(37);
  const { value } = createGenerator(38);
  const names = [
    "type",
    "enum",
    "const",
    "minimum",
    "multipleOf",
    "minLength",
    "pattern",
    "required",
    "properties",
  ] as const;
  const others = ["patternProperties", "additionalProperties", "propertyNames", "dependencies", "items", "prefixItems"];
  const more = [
    "contains",
    "minContains",
    "uniqueItems",
    "allOf",
    "not",
    "if",
    "else",
    "$ref",
    "$defs",
    "$id",
    "$anchor",
  ];
  const all: readonly [string, ...string[]] = [...names, ...others, ...more];
  const any = (depth: number): unknown =>
    depth > 3 || below(3) === 0
      ? pick([value(), "#", "#/items", "(", "object", [], {}, true])
      : Object.fromEntries(Array.from({ length: 1 + below(2) }, () => [pick(all), any(depth + 1)]));
  let compiled = 0;
  for (let round = 0; round < 3000; round++) {
    const schema = any(0);
    try {
      const said = (await compileSchema(schema)).check(value());
      compiled++;
      expect(said === null || /^("|The value ).*\.$/s.test(said)).toBe(true);
    } catch (error) {
      expect([schema, (error as Error).name]).toEqual([schema, "SchemaFault"]);
    }
  }
  expect(compiled).toBeGreaterThan(100);
});
