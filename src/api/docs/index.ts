/** `/openapi.json`, `/docs` and the pages below it: the API for programs and for people. */
import { Type as t } from "@sinclair/typebox";
import type { Services } from "../../core/dependencies.ts";
import { AppError } from "../../domain/errors.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { knownBaseUrlOf } from "../../http/base-url.ts";
import { compressFor } from "../../http/compression.ts";
import { writePageHeaders } from "../../http/html.ts";
import { respondJsonText } from "../../http/json-response.ts";
import { type Route, route } from "../../http/route.ts";
import { matchesTag } from "../../lib/entity-tag.ts";
import { docsPolicy } from "./frame.ts";
import type { ApiReference } from "./reference.ts";

/** Only the last one is cached: base URLs come from requests, and must not fill the memory. */
const builtBy = new WeakMap<Services, ApiReference & { baseUrl: string }>();

/** As long as the scripts under names that stay. */
const guideCaching = "public, max-age=300, stale-while-revalidate=3600";

const shared = { method: "GET", tag: "Service", access: "public" } as const;
const page = { 200: { description: "A page.", content: { "text/html; charset=utf-8": null } } };
const guide = { ...page, 304: { description: "Unchanged since the version of `If-None-Match`." } };

/** Calls `listRoutes` and builds the descriptions on first use: at startup they would cost several milliseconds. */
export function makeDocsRoutes(listRoutes: () => Promise<readonly Route[]>): readonly Route[] {
  let stamp: string | null = null;

  async function build(services: Services, request: Request): Promise<ApiReference> {
    const { settings } = services;
    const baseUrl = knownBaseUrlOf(settings, request) ?? "";
    const known = builtBy.get(services);
    if (known?.baseUrl === baseUrl) return known;
    const { buildReference, stampDocument } = await import("./reference.ts");
    const routes = await listRoutes();
    stamp ??= settings.apiStamp ?? stampDocument(routes);
    const version = `${settings.version}+${stamp}`;
    const built = { baseUrl, ...buildReference(routes, { baseUrl, version }) };
    builtBy.set(services, built);
    return built;
  }

  async function findPage(services: Services, request: Request, path: string): Promise<string> {
    const found = (await build(services, request)).pages.get(path);
    if (found === undefined) throw new AppError("not_found", "The documentation has no such page.");
    return found;
  }

  async function respondGuide(name: string, request: Request): Promise<Response> {
    const { findGuide } = await import("./guides.ts");
    const found = await findGuide(name);
    if (found === null) throw new AppError("not_found", "There is no such guide.");
    const { html, tag } = found;
    // Weak, since what is sent differs by encoding.
    const set = { headers: { etag: `W/${tag}`, vary: "Accept-Encoding" } as Record<string, string> };
    writePageHeaders(set.headers, docsPolicy());
    set.headers["cache-control"] = guideCaching;
    if (!matchesTag(request.headers.get("if-none-match"), tag)) {
      return new Response(await compressFor(request, set, html), set);
    }
    delete set.headers["content-type"];
    return new Response(null, { ...set, status: 304 });
  }

  return [
    route({
      ...shared,
      id: "getOpenApi",
      path: "/openapi.json",
      summary: "This document",
      document: () => {
        const fields = { openapi: t.String({ examples: ["3.1.0"] }) };
        const OpenApi = t.Object(fields, { additionalProperties: true, description: "An OpenAPI document." });
        return { responses: { 200: jsonResponse("OpenAPI 3.1.", OpenApi, "Access-Control-Allow-Origin") } };
      },
      async handle({ services, request, set }) {
        set.headers["access-control-allow-origin"] = "*";
        set.headers["cache-control"] = "no-cache";
        return respondJsonText(set, (await build(services, request)).json, 200);
      },
    }),
    route({
      ...shared,
      id: "getDocs",
      path: "/docs",
      summary: "This document for people",
      document: () => ({ responses: page }),
      handle({ services, request, set }) {
        writePageHeaders(set.headers, docsPolicy());
        return findPage(services, request, "/docs");
      },
    }),
    route({
      ...shared,
      id: "getDocsPage",
      path: "/docs/{page}",
      summary: "A page of it: a group of calls, the objects, or the errors",
      document: () => ({
        params: { page: t.String({ description: "The page.", examples: ["errors"] }) },
        responses: page,
        errors: ["not_found"],
      }),
      async handle({ services, request, params, set }) {
        const found = await findPage(services, request, `/docs/${params.page}`);
        writePageHeaders(set.headers, docsPolicy());
        return found;
      },
    }),
    route({
      ...shared,
      id: "listGuides",
      path: "/docs/guides",
      summary: "The guides: how to use and to run it",
      document: () => ({ responses: guide }),
      handle: ({ request }) => respondGuide("", request),
    }),
    route({
      ...shared,
      id: "getGuide",
      path: "/docs/guides/{guide}",
      summary: "A guide",
      document: () => ({
        params: { guide: t.String({ description: "Its name.", examples: ["widget"] }) },
        responses: guide,
        errors: ["not_found"],
      }),
      // Without a name it is none, not the list.
      handle: ({ request, params }) => respondGuide(params.guide || "-", request),
    }),
    route({
      ...shared,
      id: "searchDocs",
      path: "/docs/search",
      summary: "Search it: entries with all the given words",
      document: () => ({
        query: { q: t.String({ maxLength: 200, description: "Words.", examples: ["embed token"] }) },
        responses: page,
      }),
      async handle({ services, request, set }) {
        const { renderSearch } = await build(services, request);
        writePageHeaders(set.headers, docsPolicy());
        return renderSearch(new URL(request.url).searchParams.get("q") ?? "");
      },
    }),
  ];
}
