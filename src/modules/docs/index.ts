/** `/openapi.json`, `/docs` and `/docs/errors`: the API for programs and for people. */
import { Elysia } from "elysia";
import type { ApiOperation } from "../../http/api-description.ts";
import { baseUrlOf } from "../../http/base-url.ts";
import { answerJsonText } from "../../http/json-answer.ts";
import type { HeaderBag } from "../../http/problem.ts";
import type { Services } from "../../http/services.ts";
import { buildDocument } from "./document.ts";
import { renderErrorsPage } from "./errors-page.ts";
import { contentSecurityPolicy } from "./html.ts";
import { renderReferencePage } from "./reference-page.ts";

export function docsModule(services: Pick<Services, "settings">, operations: readonly ApiOperation[]) {
  // The last one only: base URLs come from the requests, and must not fill the memory.
  let built: { baseUrl: string; json: string; page: string } | null = null;

  function build(request: Request) {
    const baseUrl = baseUrlOf(services.settings, request);
    if (built?.baseUrl !== baseUrl) {
      const document = buildDocument(operations, { baseUrl, version: services.settings.version });
      built = { baseUrl, json: JSON.stringify(document), page: renderReferencePage(document) };
    }
    return built;
  }

  return new Elysia({ name: "docs" })
    .get("/openapi.json", ({ request, set }) => {
      set.headers["access-control-allow-origin"] = "*";
      set.headers["cache-control"] = "no-cache";
      return answerJsonText(set, build(request).json, 200);
    })
    .get("/docs", ({ request, set }) => {
      writePageHeaders(set.headers);
      return build(request).page;
    })
    .get("/docs/errors", ({ set }) => {
      writePageHeaders(set.headers);
      return renderErrorsPage();
    });
}

function writePageHeaders(headers: HeaderBag): void {
  headers["content-type"] = "text/html; charset=utf-8";
  headers["content-security-policy"] = contentSecurityPolicy();
  headers["referrer-policy"] = "no-referrer";
  headers["cache-control"] = "no-cache";
}
