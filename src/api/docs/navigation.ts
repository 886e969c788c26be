/** The pages of the reference, and where each call, object and error is found. */
import { errorCodes } from "../../domain/errors.ts";
import type { OpenApiDocument, OpenApiOperation } from "./document.ts";
import type { DocsEntry } from "./frame.ts";
import type { JsonSchema } from "./schema-text.ts";

export interface Call {
  method: string;
  path: string;
  operation: OpenApiOperation;
}

export interface Group {
  name: string;
  description: string;
  href: string;
  calls: Call[];
}

export const guidesHref = "/docs/guides";
export const overviewHref = "/docs";
export const objectsHref = "/docs/objects";
export const errorsHref = "/docs/errors";

export function listGroups(document: OpenApiDocument): Group[] {
  const calls = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  return document.tags
    .map(({ name, description }) => ({
      name,
      description,
      href: `/docs/${name.toLowerCase().replaceAll(" ", "-")}`,
      calls: calls.filter(({ operation }) => operation.tags.includes(name)),
    }))
    .filter(({ calls }) => calls.length > 0);
}

export function listEntries(document: OpenApiDocument, objectEntries: readonly DocsEntry[]): DocsEntry[] {
  return [
    { href: overviewHref, text: "Overview", parts: [] },
    { href: guidesHref, text: "Guides", parts: [] },
    ...listGroups(document).map(({ name, href, calls }) => ({
      href,
      text: name,
      parts: calls.map(({ operation }) => ({ href: `#${operation.operationId}`, text: operation.summary })),
    })),
    ...objectEntries,
    {
      href: errorsHref,
      text: "Errors",
      parts: Object.keys(errorCodes).map((code) => ({ href: `#${code}`, text: `\`${code}\`` })),
    },
  ];
}

export interface ObjectPage {
  href: string;
  title: string;
  /** By name. */
  objects: [name: string, schema: JsonSchema][];
}

/** The address of an object, by its name. */
export type LocateObject = (name: string) => string;

/**
 * An object is on the page of the first group of calls that takes or returns it. The first page is for what belongs
 * to no group, such as the object of all errors.
 */
export function listObjectPages(document: OpenApiDocument): ObjectPage[] {
  const schemas = document.components["schemas"] ?? {};
  const left = new Map(Object.entries(schemas));
  const ofGroups = listGroups(document).map(({ name, href, calls }) => {
    const used = new Set<string>();
    for (const { operation } of calls) collectNames(ownContent(operation), schemas, used);
    used.delete("Problem");
    const objects = [...used].flatMap((object): ObjectPage["objects"] => {
      const schema = left.get(object);
      left.delete(object);
      return schema === undefined ? [] : [[object, schema]];
    });
    return { href: href.replace("/docs/", `${objectsHref}-`), title: `${name}: objects`, objects };
  });
  return [
    { href: objectsHref, title: "Objects", objects: [...left] },
    ...ofGroups.filter(({ objects }) => objects.length > 0),
  ];
}

export function toEntries(pages: readonly ObjectPage[]): DocsEntry[] {
  return pages.map(({ href, title, objects }) => ({
    href,
    text: title,
    parts: objects.map(([name]) => ({ href: `#schema-${name}`, text: name })),
  }));
}

export function createObjectLocator(pages: readonly ObjectPage[]): LocateObject {
  const hrefs = new Map(pages.flatMap(({ href, objects }) => objects.map(([name]) => [name, href])));
  return (name) => `${hrefs.get(name) ?? objectsHref}#schema-${name}`;
}

/** What the call takes and returns; errors are the same everywhere. */
function ownContent({ parameters, requestBody, responses }: OpenApiOperation): unknown {
  return [parameters, requestBody, Object.values(responses).filter((response) => !("$ref" in response))];
}

/** Collects named schemas at any depth, in the order of their first mention. */
function collectNames(value: unknown, schemas: Record<string, JsonSchema>, found: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  const { $ref } = value as JsonSchema;
  const name = typeof $ref === "string" ? /^#\/components\/schemas\/(\w+)$/.exec($ref)?.[1] : undefined;
  if (name !== undefined && !found.has(name)) {
    found.add(name);
    collectNames(schemas[name], schemas, found);
  }
  for (const part of Object.values(value)) collectNames(part, schemas, found);
}
