/** `/openapi.json`, `/docs` and the pages below it: the API for programs and for people. */
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { AppError } from "../../domain/errors.ts";
import type { ApiOperation } from "../../http/api-description.ts";
import { knownBaseUrlOf } from "../../http/base-url.ts";
import { writePageHeaders } from "../../http/html.ts";
import { respondJsonText } from "../../http/json-response.ts";
import { docsPolicy } from "./frame.ts";
import type { ApiReference } from "./reference.ts";

/** `loadOperations` is called when somebody asks: descriptions of all routes would cost a start several milliseconds. */
export function docsModule(
  services: Pick<Services, "settings">,
  loadOperations: () => Promise<readonly ApiOperation[]>,
) {
  // The last one only: base URLs come from the requests, and must not fill the memory.
  let built: (ApiReference & { baseUrl: string }) | null = null;

  async function build(request: Request): Promise<ApiReference> {
    const baseUrl = knownBaseUrlOf(services.settings, request) ?? "";
    if (built?.baseUrl === baseUrl) return built;
    const [operations, { buildReference }] = await Promise.all([loadOperations(), import("./reference.ts")]);
    built = { baseUrl, ...buildReference(operations, { baseUrl, version: services.settings.version }) };
    return built;
  }

  async function findPage(request: Request, path: string): Promise<string> {
    const page = (await build(request)).pages.get(path);
    if (page === undefined) throw new AppError("not_found", "The documentation has no such page.");
    return page;
  }

  return (app: Elysia) =>
    app
      .get("/openapi.json", async ({ request, set }) => {
        set.headers["access-control-allow-origin"] = "*";
        set.headers["cache-control"] = "no-cache";
        return respondJsonText(set, (await build(request)).json, 200);
      })
      .get("/docs", async ({ request, set }) => {
        writePageHeaders(set.headers, docsPolicy());
        return findPage(request, "/docs");
      })
      .get("/docs/search", async ({ request, set }) => {
        const { renderSearch } = await build(request);
        writePageHeaders(set.headers, docsPolicy());
        return renderSearch(new URL(request.url).searchParams.get("q") ?? "");
      })
      .get("/docs/:page", async ({ request, params, set }) => {
        const page = await findPage(request, `/docs/${params.page}`);
        writePageHeaders(set.headers, docsPolicy());
        return page;
      });
}
