/** The pages of the reference, and where each call, object and error is found. */
import { errorCodes } from "../../domain/errors.ts";
import type { OpenApiDocument, OpenApiOperation } from "./document.ts";
import type { DocsPlace } from "./frame.ts";

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

export function listPlaces(document: OpenApiDocument, objectPlaces: readonly DocsPlace[]): DocsPlace[] {
  return [
    { href: overviewHref, text: "Overview", parts: [] },
    { href: guidesHref, text: "Guides", parts: [] },
    ...listGroups(document).map(({ name, href, calls }) => ({
      href,
      text: name,
      parts: calls.map(({ operation }) => ({ href: `#${operation.operationId}`, text: operation.summary })),
    })),
    ...objectPlaces,
    {
      href: errorsHref,
      text: "Errors",
      parts: Object.keys(errorCodes).map((code) => ({ href: `#${code}`, text: `\`${code}\`` })),
    },
  ];
}
