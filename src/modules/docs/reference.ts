/** The API document for programs and for people, made of the routes' descriptions. */
import type { ApiOperation } from "../../http/api-description.ts";
import { buildDocument, type DocumentFacts } from "./document.ts";
import { renderReferencePage } from "./reference-page.ts";

/** `json` is the OpenAPI document, `page` shows the same as HTML. */
export function buildReference(
  operations: readonly ApiOperation[],
  facts: DocumentFacts,
): { json: string; page: string } {
  const document = buildDocument(operations, facts);
  return { json: JSON.stringify(document), page: renderReferencePage(document) };
}
