/** `/docs` and the pages below it: an overview, the calls by group, and the objects. */
import { escapeHtml } from "../../http/html.ts";
import { renderAddress, renderCall } from "./call.ts";
import type { OpenApiDocument } from "./document.ts";
import { type DocsPlace, framePage } from "./frame.ts";
import { renderInline, renderText } from "./html.ts";
import { type Group, listGroups, objectsHref, overviewHref } from "./places.ts";
import { renderSchema } from "./schema-table.ts";

/** By path. */
export function renderReferencePages(document: OpenApiDocument, places: readonly DocsPlace[]): Map<string, string> {
  const groups = listGroups(document);
  const frame = (href: string, title: string, body: string) =>
    [href, framePage({ href, title, places, body })] as const;
  return new Map([
    frame(overviewHref, "API reference", renderOverview(document, groups)),
    ...groups.map((group) => frame(group.href, group.name, renderGroup(group, document))),
    frame(objectsHref, "Objects", renderObjects(document)),
  ]);
}

/** The items keep the anchors from when everything was one page, so that old links lead to the new ones. */
function renderOverview(document: OpenApiDocument, groups: readonly Group[]): string {
  const names = Object.keys(document.components.schemas ?? {});
  return `<h1>API reference</h1>
<p class="soft">companiond ${escapeHtml(document.info.version)}${renderPlace(document)}</p>
${renderText(document.info.description)}
${groups.map(renderGroupList).join("\n")}
<section><h2 id="objects"><a href="${objectsHref}">Objects</a></h2>
<ul class="names">${names.map((name) => `<li id="schema-${name}"><a href="${objectsHref}#schema-${name}">${name}</a></li>`).join("")}</ul></section>`;
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

function renderGroup({ name, description, calls }: Group, document: OpenApiDocument): string {
  return `<h1>${escapeHtml(name)}</h1>
<p>${renderInline(description)}</p>
${calls.map((call) => renderCall(call, document)).join("\n")}`;
}

function renderObjects(document: OpenApiDocument): string {
  const objects = Object.entries(document.components.schemas ?? {}).map(
    ([name, schema]) =>
      `<section id="schema-${escapeHtml(name)}">\n<h2>${escapeHtml(name)}</h2>\n${renderSchema(schema)}</section>`,
  );
  return `<h1>Objects</h1>\n<p>What calls accept and return.</p>\n${objects.join("\n")}`;
}

/** Empty if the server does not know its own address. */
function renderPlace({ servers }: OpenApiDocument): string {
  const url = servers[0]?.url ?? "/";
  return url === "/" ? "" : ` at <code>${escapeHtml(url)}</code>`;
}
