/** The API document as the executable serves it: its routes, who may call them, and values for their parameters. */
import type { OpenApiDocument, OpenApiOperation } from "../src/api/docs/document.ts";
import { apiDocument } from "../test/support/conformance.ts";
import type { Tally } from "./row.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Operation {
  method: string;
  path: string;
  described: OpenApiOperation;
  /** Who may call the route. */
  door: "public" | "embed" | "key" | "session";
  /** The resolved schema of the body, or null if there is none. */
  body: JsonSchema | null;
  /** A body that the server accepts. */
  bodyExample: unknown;
  /** Whether the body has many of these, one per line. */
  areLines: boolean;
}

export const documentFaults = ["differences between the served and the checked API document"] as const;

/** Reads `/openapi.json`. Its routes and schemas must match the sources, which `checkConformance` uses. */
export async function readOperations(url: string, tally: Tally): Promise<Operation[]> {
  const served: OpenApiDocument = JSON.parse(await (await fetch(`${url}/openapi.json`)).text());
  if (JSON.stringify(shapeOf(served)) !== JSON.stringify(shapeOf(apiDocument))) {
    tally.fault(documentFaults[0], "build the executable anew");
  }
  const resolve = (schema: JsonSchema) => resolveReference(served, schema);
  return Object.entries(served.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const { "application/json": json, "application/x-ndjson": lines } = described.requestBody?.content ?? {};
      const media = json ?? lines;
      return {
        method: method.toUpperCase(),
        path,
        described,
        door: doorOf(path, described),
        body: media === undefined ? null : chooseOption(resolve(media.schema), media.example),
        bodyExample: media?.example,
        areLines: json === undefined && lines !== undefined,
      };
    }),
  );
}

/** Of bodies that name their own type, the one of the example's. */
function chooseOption(schema: JsonSchema, example: unknown): JsonSchema {
  if (!Array.isArray(schema.anyOf)) return schema;
  const { type } = (example ?? {}) as { type?: unknown };
  const isSame = (option: JsonSchema) =>
    propertiesOf(option).some(([name, { const: of }]) => name === "type" && of === type);
  return (schema.anyOf as JsonSchema[]).find(isSame) ?? schema;
}

function shapeOf({ paths }: OpenApiDocument): object {
  return Object.entries(paths).map(([path, methods]) => [
    path,
    Object.entries(methods).map(([method, { parameters, requestBody, responses }]) => [
      method,
      parameters,
      requestBody?.content["application/json"]?.schema,
      Object.keys(responses),
    ]),
  ]);
}

function doorOf(path: string, { security }: OpenApiOperation): Operation["door"] {
  if (path.startsWith("/api/embed/")) return "embed";
  const names = security.flatMap((one) => Object.keys(one));
  if (names.length === 0) return "public";
  return names.some((name) => /key|bearer/i.test(name)) ? "key" : "session";
}

/** Resolves everything inside too, so that no reference is left. */
function resolveReference(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
    return resolveReference(document, document.components.schemas?.[name] ?? {});
  }
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, resolveWithin(document, keyword, value)]),
  );
}

function resolveWithin(document: OpenApiDocument, keyword: string, value: unknown): unknown {
  if (keyword === "items") return resolveReference(document, value as JsonSchema);
  if (keyword === "anyOf") return (value as JsonSchema[]).map((option) => resolveReference(document, option));
  if (keyword !== "properties") return value;
  return Object.fromEntries(
    Object.entries(value as Record<string, JsonSchema>).map(([name, part]) => [name, resolveReference(document, part)]),
  );
}

export function propertiesOf(schema: JsonSchema): [string, JsonSchema][] {
  return Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
}

export function requiredOf(schema: JsonSchema): readonly string[] {
  return Array.isArray(schema.required) ? schema.required : [];
}

/** Replaces each `{name}` with its raw value, so that hostile values stay hostile. */
export function fillPath(path: string, takeValue: (name: string) => string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => takeValue(name));
}
