/** The API reference for programs and for people, generated from the routes. */
import { escapeHtml } from "../../http/html.ts";
import type { Route } from "../../http/route.ts";
import { sha256Hex } from "../../lib/sha256.ts";
import { buildDocument, type DocumentFacts, type OpenApiDocument } from "./document.ts";
import { renderErrorsPage } from "./error-guide.ts";
import { type DocsEntry, framePage } from "./frame.ts";
import { renderInline, renderText } from "./html.ts";
import {
  createObjectLocator,
  errorsHref,
  type Group,
  guidesHref,
  type LocateObject,
  listEntries,
  listGroups,
  listObjectPages,
  type ObjectPage,
  objectsHref,
  overviewHref,
  toEntries,
} from "./navigation.ts";
import { renderAddress, renderCall, renderSchema } from "./schema-table.ts";
import { buildIndex, renderSearchPage } from "./search.ts";

export interface ApiReference {
  /** The OpenAPI document. */
  json: string;
  /** The same as pages, by path. */
  pages: ReadonlyMap<string, string>;
  renderSearch(query: string): string;
}

/**
 * Distinguishes the document from every other one: generators, caches and people compare versions, and not every change
 * of it changes the version of the product. The same wherever the server is, so that a build can carry it.
 */
export function stampDocument(routes: readonly Route[]): string {
  return sha256Hex(JSON.stringify(buildDocument(routes, { baseUrl: "", version: "" }))).slice(0, 12);
}

export function buildReference(routes: readonly Route[], facts: DocumentFacts): ApiReference {
  const document = buildDocument(routes, facts);
  const objectPages = listObjectPages(document);
  const entries = listEntries(document, toEntries(objectPages));
  const locate = createObjectLocator(objectPages);
  const index = buildIndex(document, locate);
  return {
    json: JSON.stringify(document),
    pages: renderReferencePages({ document, entries, objectPages, locate }).set(errorsHref, renderErrorsPage(entries)),
    renderSearch: (query) => renderSearchPage(index, entries, query),
  };
}

interface ReferenceParts {
  document: OpenApiDocument;
  entries: readonly DocsEntry[];
  objectPages: readonly ObjectPage[];
  locate: LocateObject;
}

/** `/docs` and the pages below it: an overview, the calls by group, and the objects. By path. */
function renderReferencePages({ document, entries, objectPages, locate }: ReferenceParts): Map<string, string> {
  const groups = listGroups(document);
  const frame = (href: string, title: string, body: string) =>
    [href, framePage({ href, title, entries, body })] as const;
  return new Map([
    frame(overviewHref, "API reference", renderOverview(document, groups, locate)),
    ...groups.map((group) => frame(group.href, group.name, renderGroup(group, document, locate))),
    ...objectPages.map((page) => frame(page.href, page.title, renderObjects(page, objectPages, locate))),
  ]);
}

/** The items keep the anchors from when everything was one page, so that old links lead to the new ones. */
function renderOverview(document: OpenApiDocument, groups: readonly Group[], locate: LocateObject): string {
  const names = Object.keys(document.components.schemas ?? {});
  return `<h1>API reference</h1>
<p class="soft">companiond ${escapeHtml(document.info.version)}${renderServer(document)}</p>
<p>How to put it to use, step by step: the <a href="${guidesHref}">guides</a> for site owners, platforms and operators.</p>
${renderText(document.info.description)}
${groups.map(renderGroupList).join("\n")}
<section><h2 id="objects"><a href="${objectsHref}">Objects</a></h2>
<ul class="names">${names.map((name) => `<li id="schema-${name}"><a href="${locate(name)}">${name}</a></li>`).join("")}</ul></section>`;
}

function renderGroupList({ name, description, href, calls }: Group): string {
  const items = calls.map((call) => {
    const { operationId, summary } = call.operation;
    return `<li id="${operationId}"><a href="${href}#${operationId}">${renderInline(summary)}</a><span class="call">${renderAddress(call)}</span></li>`;
  });
  return `<section><h2><a href="${href}">${escapeHtml(name)}</a></h2>
<p>${renderInline(description)}</p>
<ul class="index">${items.join("\n")}</ul></section>`;
}

function renderGroup({ name, description, calls }: Group, document: OpenApiDocument, locate: LocateObject): string {
  return `<h1>${escapeHtml(name)}</h1>
<p>${renderInline(description)}</p>
${calls.map((call) => renderCall(call, document, locate)).join("\n")}`;
}

/** The first page links to the others, from the anchors of when it had all objects. */
function renderObjects(
  { href, title, objects }: ObjectPage,
  pages: readonly ObjectPage[],
  locate: LocateObject,
): string {
  const sections = objects.map(
    ([name, schema]) =>
      `<section id="schema-${escapeHtml(name)}">\n<h2>${escapeHtml(name)}</h2>\n${renderSchema(schema, locate)}</section>`,
  );
  const others = href === objectsHref ? pages.filter((page) => page.href !== href).map(renderObjectList) : [];
  return `<h1>${escapeHtml(title)}</h1>\n<p>What calls accept and return.</p>\n${[...sections, ...others].join("\n")}`;
}

function renderObjectList({ href, title, objects }: ObjectPage): string {
  const items = objects.map(
    ([name]) =>
      `<li id="schema-${escapeHtml(name)}"><a href="${href}#schema-${escapeHtml(name)}">${escapeHtml(name)}</a></li>`,
  );
  return `<section><h2><a href="${href}">${escapeHtml(title)}</a></h2>
<ul class="names">${items.join("")}</ul></section>`;
}

/** Empty if the server does not know its own address. */
function renderServer({ servers }: OpenApiDocument): string {
  const url = servers[0]?.url ?? "/";
  return url === "/" ? "" : ` at <code>${escapeHtml(url)}</code>`;
}
