/** The API reference for programs and for people, generated from the routes. */
import type { Route } from "../../http/route.ts";
import { sha256Hex } from "../../lib/sha256.ts";
import { buildDocument, type DocumentFacts } from "./document.ts";
import { renderErrorsPage } from "./error-guide.ts";
import { createObjectLocator, errorsHref, listObjectPages, listPlaces, toPlaces } from "./places.ts";
import { renderReferencePages } from "./reference-pages.ts";
import { buildIndex, renderSearchPage } from "./search.ts";

export interface ApiReference {
  /** The OpenAPI document. */
  json: string;
  /** The same as pages, by path. */
  pages: ReadonlyMap<string, string>;
  renderSearch(query: string): string;
}

/**
 * Tells the document from every other one: generators, caches and people compare versions, and not every change of it
 * changes the version of the product. The same wherever the server is, so that a build can carry it.
 */
export function stampDocument(routes: readonly Route[]): string {
  return sha256Hex(JSON.stringify(buildDocument(routes, { baseUrl: "", version: "" }))).slice(0, 12);
}

export function buildReference(routes: readonly Route[], facts: DocumentFacts): ApiReference {
  const document = buildDocument(routes, facts);
  const objectPages = listObjectPages(document);
  const places = listPlaces(document, toPlaces(objectPages));
  const locate = createObjectLocator(objectPages);
  const index = buildIndex(document, locate);
  return {
    json: JSON.stringify(document),
    pages: renderReferencePages({ document, places, objectPages, locate }).set(errorsHref, renderErrorsPage(places)),
    renderSearch: (query) => renderSearchPage(index, places, query),
  };
}
