/** `/openapi.json`, `/docs` and `/docs/errors`: the API for programs and for people. */
import type { Elysia } from "elysia";
import type { ApiOperation } from "../../http/api-description.ts";
import { knownBaseUrlOf } from "../../http/base-url.ts";
import { answerJsonText } from "../../http/json-answer.ts";
import type { HeaderBag } from "../../http/problem.ts";
import type { Services } from "../../http/services.ts";
import { renderErrorsPage } from "./errors-page.ts";
import { contentSecurityPolicy } from "./html.ts";

/** `loadOperations` is called when somebody asks: descriptions of all routes would cost a start several milliseconds. */
export function docsModule(
  services: Pick<Services, "settings">,
  loadOperations: () => Promise<readonly ApiOperation[]>,
) {
  // The last one only: base URLs come from the requests, and must not fill the memory.
  let built: { baseUrl: string; json: string; page: string } | null = null;

  async function build(request: Request) {
    const baseUrl = knownBaseUrlOf(services.settings, request) ?? "";
    if (built?.baseUrl === baseUrl) return built;
    const [operations, { buildReference }] = await Promise.all([loadOperations(), import("./reference.ts")]);
    built = { baseUrl, ...buildReference(operations, { baseUrl, version: services.settings.version }) };
    return built;
  }

  return (app: Elysia) =>
    app
      .get("/openapi.json", async ({ request, set }) => {
        set.headers["access-control-allow-origin"] = "*";
        set.headers["cache-control"] = "no-cache";
        return answerJsonText(set, (await build(request)).json, 200);
      })
      .get("/docs", async ({ request, set }) => {
        writePageHeaders(set.headers);
        return (await build(request)).page;
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
