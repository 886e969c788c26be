/** Generates values from a JSON schema: valid ones, including its limits, and every invalid kind. */
import { type JsonSchema, propertiesOf, requiredOf } from "./document.ts";
import type { Random } from "./row.ts";

const alphabet = [..."abcdefgXYZ 0123456789-_.,'\"<>&%;/\\éßñ中文字🙂👩‍👧\u200b\u202e\t\n"];

export function makeText(random: Random, least: number, most: number): string {
  const length = random.below(8) === 0 ? most : least + random.below(Math.min(most - least, 40) + 1);
  return Array.from({ length }, () => alphabet[random.below(alphabet.length)] ?? "a").join("");
}

const typesOf = (schema: JsonSchema): readonly unknown[] =>
  Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type];

const numberOf = (value: unknown, otherwise: number) => (typeof value === "number" ? value : otherwise);

/** A value that is valid as far as the schema says. */
export function makeValue(schema: JsonSchema, random: Random): unknown {
  const types = typesOf(schema);
  if (types.includes("null") && random.below(6) === 0) return null;
  if (Array.isArray(schema.enum)) return schema.enum[random.below(schema.enum.length)];
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.anyOf)) return makeValue(schema.anyOf[random.below(schema.anyOf.length)], random);
  switch (types.find((type) => type !== "null")) {
    case "string":
      return makeString(schema, random);
    case "integer":
    case "number": {
      const least = numberOf(schema.minimum, 0);
      const most = numberOf(schema.maximum, least + 10_000);
      const between = least + random.next() * (most - least);
      return random.pick([least, most, types.includes("number") ? between : Math.floor(between)]);
    }
    case "boolean":
      return random.below(2) === 0;
    case "array": {
      const length = random.below(Math.min(numberOf(schema.maxItems, 4), 6) + 1);
      return Array.from({ length }, () => makeValue((schema.items ?? {}) as JsonSchema, random));
    }
    case "object":
      return schema.properties === undefined ? makeJson(random, 3) : makeObject(schema, random);
    default:
      return makeJson(random, 2);
  }
}

function makeString(schema: JsonSchema, random: Random): string {
  const [example] = Array.isArray(schema.examples) ? schema.examples : [];
  if (schema.format === "uuid") return crypto.randomUUID();
  // Patterns and rules beyond the schema are best met by the example.
  if (typeof example === "string" && (schema.pattern !== undefined || random.below(3) === 0)) return example;
  if (typeof schema.pattern === "string" && schema.pattern.includes("{8}-")) return crypto.randomUUID();
  return makeText(random, numberOf(schema.minLength, 0), Math.min(numberOf(schema.maxLength, 60), 2_000));
}

function makeObject(schema: JsonSchema, random: Random): Record<string, unknown> {
  const required = requiredOf(schema);
  const chosen = propertiesOf(schema).filter(([name]) => required.includes(name) || random.below(4) === 0);
  return Object.fromEntries(chosen.map(([name, part]) => [name, makeValue(part, random)]));
}

/** Any JSON object. */
export function makeJson(random: Random, depth: number): Record<string, unknown> {
  const part = (): unknown => {
    const kind = random.below(depth > 0 ? 7 : 5);
    if (kind === 0) return random.below(1_000_000) - 1_000;
    if (kind === 1) return random.below(2) === 0;
    if (kind === 2) return null;
    if (kind < 5) return makeText(random, 0, 40);
    return kind === 5 ? [makeText(random, 0, 9), random.next()] : makeJson(random, depth - 1);
  };
  return Object.fromEntries(Array.from({ length: random.below(5) }, () => [makeText(random, 1, 12), part()]));
}

/** One invalid value of each kind. */
export function listForbidden(schema: JsonSchema): unknown[] {
  const types = typesOf(schema);
  const forbidden: unknown[] = types.includes("null") ? [] : [null];
  const choices = Array.isArray(schema.enum) ? ["none of them", 7, {}] : [];
  switch (types.find((type) => type !== "null")) {
    case "string":
      if (choices.length > 0) return [...forbidden, ...choices];
      forbidden.push(1, true, [], {}, ["a"], "a\0b", "\ud800", "a\udfff");
      if (typeof schema.maxLength === "number") forbidden.push("x".repeat(schema.maxLength + 1));
      if (numberOf(schema.minLength, 0) > 0) forbidden.push("");
      if (schema.pattern !== undefined) forbidden.push("~ no match ~", "");
      return forbidden;
    case "integer":
    case "number":
      forbidden.push("1", true, [], {});
      if (types.includes("integer")) forbidden.push(1.5, Number.MAX_VALUE);
      if (typeof schema.minimum === "number") forbidden.push(schema.minimum - 1);
      if (typeof schema.maximum === "number") forbidden.push(schema.maximum + 1);
      return forbidden;
    case "boolean":
      return [...forbidden, "true", 0, 1, [], {}];
    case "array": {
      const items = (schema.items ?? {}) as JsonSchema;
      forbidden.push("a", 1, {}, ...listForbidden(items).map((item) => [item]));
      if (typeof schema.maxItems === "number") {
        const [example] = Array.isArray(items.examples) ? items.examples : ["a"];
        forbidden.push(Array.from({ length: schema.maxItems + 1 }, () => example));
      }
      return forbidden;
    }
    case "object":
      return [...forbidden, "a", 1, true, [], ["a"]];
    default:
      // Of several types.
      return schema.anyOf === undefined ? [...forbidden, ...choices] : [];
  }
}
