/**
 * Writes the API document's objects and the parameters of its calls as TypeScript: the types of the client for servers,
 * which therefore cannot differ from what the server checks and sends.
 *
 *   bun scripts/wire-types.ts
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildDocument, type OpenApiDocument } from "../src/api/docs/document.ts";
import type { JsonSchema } from "../src/api/docs/schema-text.ts";
import { routes } from "../src/app/routes.ts";

const file = join(import.meta.dir, "..", "src", "client", "generated", "wire.ts");

/** The document can only say what one parameter is: our client sends several, and numbers as their JSON text. */
const metadataFilter: JsonSchema = { $ref: "#/MetadataFilter" };
const metadataFilterText = `/** By path, a dot for each level. All must match; of several values, each. */
export type MetadataFilter = {
readonly [path: string]: MetadataValue | readonly MetadataValue[] | undefined;
};

export type MetadataValue = string | number | boolean | null;`;

/** Every named object, and `…Query` for each call with parameters. */
export function renderWireTypes({ components, paths }: OpenApiDocument): string {
  const objects = Object.entries(components["schemas"] ?? {}).map(
    ([name, schema]) => `${renderComment(schema)}export type ${name} = ${renderType(schema)};`,
  );
  const queries = Object.values(paths).flatMap((operations) =>
    Object.values(operations).flatMap(({ operationId, summary, parameters = [] }) => {
      const fields = parameters.filter((parameter) => parameter.in === "query");
      if (fields.length === 0) return [];
      const lines = fields.map(({ name, required, description, schema, style }) =>
        renderField(name, { ...(style === "deepObject" ? metadataFilter : schema), description }, required),
      );
      const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Query`;
      return [`${renderComment({ description: summary })}export type ${name} = {\n${lines.join("\n")}\n};`];
    }),
  );
  return `/** What goes over the wire, generated from the API document. */\n\n${[...objects, metadataFilterText, ...queries].join("\n\n")}\n`;
}

function renderType(schema: JsonSchema): string {
  if (typeof schema.$ref === "string") return schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
  if (Array.isArray(schema.enum)) return joinUnion(schema.enum.map((value) => JSON.stringify(value)));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const options = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(options)) return joinUnion(options.map((option: JsonSchema) => renderType(option)));
  if (Array.isArray(schema.allOf)) return schema.allOf.map((part: JsonSchema) => `(${renderType(part)})`).join(" & ");
  if (Array.isArray(schema.type)) return joinUnion(schema.type.map((type) => renderType({ ...schema, type })));
  switch (schema.type) {
    case "array":
      return `(${schema.items === undefined ? "unknown" : renderType(schema.items as JsonSchema)})[]`;
    case "object":
      return renderObject(schema);
    case "integer":
      return "number";
    case "string":
      return schema.format === "binary" ? "Blob" : "string";
    case "number":
    case "boolean":
    case "null":
      return schema.type;
    default:
      return "unknown";
  }
}

function renderObject({ properties = {}, required, additionalProperties, patternProperties }: JsonSchema): string {
  const fields = Object.entries(properties as Record<string, JsonSchema>);
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const lines = fields.map(([name, schema]) => renderField(name, schema, isRequired(name)));
  const others = [additionalProperties, ...Object.values(patternProperties ?? {})].filter(
    (other) => typeof other === "object" || other === true,
  );
  // A known field beside others would have to be one of them.
  const other = fields.length > 0 || others.length === 0 ? "unknown" : joinUnion(others.map(renderOther));
  if (others.length > 0 || fields.length === 0) lines.push(`[name: string]: ${other};`);
  return `{\n${lines.join("\n")}\n}`;
}

function renderOther(schema: JsonSchema | true): string {
  return schema === true ? "unknown" : renderType(schema);
}

function renderField(name: string, schema: JsonSchema, isRequired: boolean): string {
  const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
  // Programs often have a value or none, and either is meant.
  return `${renderComment(schema)}${key}${isRequired ? "" : "?"}: ${renderType(schema)}${isRequired ? "" : " | undefined"};`;
}

function renderComment({ description }: JsonSchema): string {
  return typeof description === "string"
    ? `/** ${description.replaceAll("*/", "*\\/").replaceAll("\n", " ")} */\n`
    : "";
}

function joinUnion(types: readonly string[]): string {
  return [...new Set(types)].join(" | ");
}

export function writeWireTypes(): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, renderWireTypes(buildDocument(routes, { baseUrl: "", version: "" })));
}

if (import.meta.main) writeWireTypes();
