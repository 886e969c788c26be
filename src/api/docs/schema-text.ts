/**
 * Turns TypeBox models into the document's JSON Schema: named models by reference, choices and nullables in short form.
 */
import type { TSchema } from "@sinclair/typebox";

export type JsonSchema = { [keyword: string]: unknown };

/** Collects the named schemas it encounters, for `components.schemas`. */
export class SchemaCollector {
  readonly named = new Map<string, JsonSchema>();

  /** The schema, or a reference if it has a name. */
  add(schema: TSchema): JsonSchema {
    const { $id: name, ...rest } = schema;
    if (name === undefined) return this.#shorten(rest);
    if (!this.named.has(name)) {
      // Reserve the name first: the schema's parts may refer to it.
      this.named.set(name, {});
      this.named.set(name, this.#shorten(rest));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #shorten(schema: JsonSchema): JsonSchema {
    const out: JsonSchema = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === "properties") out[keyword] = this.#mapValues(value as Record<string, TSchema>, schema.required);
      else if (keyword === "items" || keyword === "contentSchema") out[keyword] = this.add(value as TSchema);
      else if (keyword === "anyOf") Object.assign(out, this.#shortenUnion(value as TSchema[]));
      else out[keyword] = value;
    }
    // A nullable union of literals has its own description, which the outer one would lose.
    return out;
  }

  #mapValues(properties: Record<string, TSchema>, required: unknown): Record<string, JsonSchema> {
    const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
    return Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => {
        const shown = this.add(schema);
        return [name, isRequired(name) ? shown : describeDefault(shown)];
      }),
    );
  }

  #shortenUnion(options: readonly TSchema[]): JsonSchema {
    const constants = options.map((option) => option.const);
    if (constants.every((constant) => typeof constant === "string")) return { type: "string", enum: constants };
    const [first, second, ...others] = options;
    if (first === undefined || second?.type !== "null" || others.length > 0) {
      return { anyOf: options.map((option) => this.add(option)) };
    }
    const shown = this.add(first);
    if (typeof shown.type !== "string") return { anyOf: [shown, { type: "null" }] };
    return {
      ...shown,
      type: [shown.type, "null"],
      ...(Array.isArray(shown.enum) ? { enum: [...shown.enum, null] } : {}),
    };
  }
}

/** The default in words: from the keyword, generators of clients conclude that the field must be sent. */
function describeDefault({ default: value, ...schema }: JsonSchema): JsonSchema {
  if (value === undefined) return schema;
  return { ...schema, description: `${schema.description ?? ""} Where left out: \`${JSON.stringify(value)}\`.`.trim() };
}

type Resolve = (reference: string) => JsonSchema;

/** An example value that matches the schema, built from the examples of its parts. */
export function exampleOf(schema: JsonSchema, resolve: Resolve): unknown {
  if (typeof schema.$ref === "string") return exampleOf(resolve(schema.$ref), resolve);
  if (schema.contentSchema !== undefined) {
    return `${JSON.stringify(exampleOf(schema.contentSchema as JsonSchema, resolve))}\n`;
  }
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (Array.isArray(schema.anyOf)) return exampleOf(schema.anyOf[0] as JsonSchema, resolve);
  if (Array.isArray(schema.type) && schema.format === undefined) return null;
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "object":
      return Object.fromEntries(
        Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).map(([name, part]) => [
          name,
          exampleOf(part, resolve),
        ]),
      );
    case "array":
      return schema.items === undefined ? [] : [exampleOf(schema.items as JsonSchema, resolve)];
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    case "string":
      return exampleText[String(schema.format)] ?? "text";
    default:
      return null;
  }
}

const exampleText: Record<string, string> = {
  uuid: "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10",
  "date-time": "2026-01-31T12:00:00.000Z",
  date: "2026-01-31",
  uri: "https://companions.example/",
};
