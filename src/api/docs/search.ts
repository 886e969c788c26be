/** Searches calls, objects and errors on the server, so that pages need no script. */
import { type ErrorCode, errorCodes } from "../../domain/errors.ts";
import { escapeHtml } from "../../http/html.ts";
import type { OpenApiDocument } from "./document.ts";
import { errorGuide } from "./error-guide.ts";
import { type DocsEntry, framePage } from "./frame.ts";
import { renderInline } from "./html.ts";
import { type Call, errorsHref, type LocateObject, listGroups } from "./navigation.ts";
import { renderAddress } from "./schema-table.ts";
import type { JsonSchema } from "./schema-text.ts";

interface Entry {
  href: string;
  /** May contain `code`. */
  title: string;
  /** The group it belongs to. */
  group: string;
  /** HTML. */
  address: string;
  about: string;
  /** All searchable text, in lower case. */
  text: string;
}

const maxWords = 8;
const maxQueryLength = 200;
const maxFound = 40;

export function buildIndex(document: OpenApiDocument, locate: LocateObject): Entry[] {
  const schemas = document.components.schemas ?? {};
  const calls = listGroups(document).flatMap(({ name, href, calls }) =>
    calls.map((call) => toCallEntry(call, name, href, schemas)),
  );
  const objects = Object.entries(schemas).map(([name, schema]) => ({
    href: locate(name),
    title: name,
    group: "Objects",
    address: "",
    about: typeof schema.description === "string" ? schema.description : "",
    text: `${name} ${wordsOf(schema)}`.toLowerCase(),
  }));
  const errors = (Object.keys(errorCodes) as ErrorCode[]).map((code) => {
    const { status, title } = errorCodes[code];
    const { meaning, remedy } = errorGuide[code];
    return {
      href: `${errorsHref}#${code}`,
      title: `\`${code}\``,
      group: "Errors",
      address: "",
      about: meaning,
      text: `${code} ${status} ${title} ${meaning} ${remedy}`.toLowerCase(),
    };
  });
  return [...calls, ...objects, ...errors];
}

function toCallEntry(call: Call, group: string, href: string, schemas: Record<string, JsonSchema>): Entry {
  const { method, path, operation } = call;
  const { operationId, summary, description, parameters = [], requestBody } = operation;
  const reference = requestBody?.content["application/json"]?.schema.$ref;
  const body = typeof reference === "string" ? schemas[reference.slice(reference.lastIndexOf("/") + 1)] : undefined;
  const named = parameters.map((parameter) => `${parameter.name} ${parameter.description}`);
  const words = [summary, method, path, operationId, description, ...named, wordsOf(body ?? {})];
  return {
    href: `${href}#${operationId}`,
    title: summary,
    group,
    address: renderAddress(call),
    about: description,
    text: words.join(" ").toLowerCase(),
  };
}

/** Names and descriptions of the fields, at any depth. */
function wordsOf(schema: JsonSchema): string {
  const own = typeof schema.description === "string" ? schema.description : "";
  const parts = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  return [own, ...parts.map(([name, part]) => `${name} ${wordsOf(part)}`)].join(" ");
}

/** Entries that contain all the words; matches in the title come first. */
function find(index: readonly Entry[], query: string): Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, maxWords);
  if (words.length === 0) return [];
  return index
    .filter(({ text }) => words.every((word) => text.includes(word)))
    .map((entry) => ({ entry, weight: words.reduce((sum, word) => sum + weigh(entry, word), 0) }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, maxFound)
    .map(({ entry }) => entry);
}

function weigh({ title, address }: Entry, word: string): number {
  const at = title.toLowerCase().indexOf(word);
  if (at === 0 || (at > 0 && /\W/.test(title[at - 1] ?? ""))) return 4;
  if (at > 0) return 3;
  return address.toLowerCase().includes(word) ? 2 : 0;
}

export function renderSearchPage(index: readonly Entry[], entries: readonly DocsEntry[], sent: string): string {
  const query = [...sent].slice(0, maxQueryLength).join("").toWellFormed().trim();
  const found = find(index, query);
  const title = query === "" ? "Search" : `Search: ${query}`;
  return framePage({
    title,
    href: "/docs/search",
    entries,
    query,
    body: `<h1>Search</h1>\n${renderFound(found, query)}`,
  });
}

function renderFound(found: readonly Entry[], query: string): string {
  if (query === "") return "<p>Type what you are looking for: a field, a path, an error.</p>";
  const shown = `<strong>${escapeHtml(query)}</strong>`;
  if (found.length === 0)
    return `<p>Nothing matches all the words of ${shown}. Try fewer, or browse the <a href="/docs">overview</a>.</p>`;
  const count = found.length === maxFound ? `The first ${maxFound}` : `${found.length} found`;
  const items = found.map(
    ({ href, title, group, address, about }) =>
      `<li><a href="${href}">${renderInline(title)}</a> <span class="soft">${escapeHtml(group)}</span>` +
      `${address === "" ? "" : `<span class="call">${address}</span>`}${about === "" ? "" : `<p>${renderInline(about)}</p>`}</li>`,
  );
  return `<p>${count} for ${shown}.</p>\n<ol class="found">${items.join("\n")}</ol>`;
}
