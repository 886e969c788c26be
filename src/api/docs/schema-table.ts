/** Renders an API call, and JSON Schemas as tables of fields, as HTML. */
import { escapeHtml } from "../../http/html.ts";
import type { OpenApiDocument, OpenApiOperation, OpenApiResponse } from "./document.ts";
import type { Reference } from "./error-responses.ts";
import { renderInline } from "./html.ts";
import { type Call, errorsHref, type LocateObject } from "./navigation.ts";
import type { JsonSchema } from "./schema-text.ts";

/** An object becomes a table of its fields, anything else its type. */
export function renderSchema(schema: JsonSchema, locate: LocateObject): string {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  if (properties.length === 0) return renderType(schema, locate);
  const required = Array.isArray(schema.required) ? schema.required : [];
  const rows = properties.map(
    ([name, part]) =>
      `<tr><td><code>${escapeHtml(name)}</code></td>` +
      `<td class="soft">${renderType(part, locate)}${required.includes(name) ? "" : ", optional"}</td>` +
      `<td>${renderInline(describe(part))}</td></tr>`,
  );
  const about = typeof schema.description === "string" ? `<p>${renderInline(schema.description)}</p>` : "";
  return `${about}<div class="table" tabindex="0"><table><thead><tr><th>Field</th><th>Type</th><th>Meaning</th></tr></thead>
<tbody>${rows.join("")}</tbody></table></div>`;
}

function renderType(schema: JsonSchema, locate: LocateObject): string {
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
    return `<a href="${escapeHtml(locate(name))}">${escapeHtml(name)}</a>`;
  }
  if (Array.isArray(schema.enum))
    return schema.enum.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(" ");
  if (schema.const !== undefined) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`;
  if (Array.isArray(schema.anyOf))
    return schema.anyOf.map((option) => renderType(option as JsonSchema, locate)).join(" or ");
  if (schema.contentSchema !== undefined) return `lines of ${renderType(schema.contentSchema as JsonSchema, locate)}`;
  if (schema.type === "array") return `list of ${renderType((schema.items ?? {}) as JsonSchema, locate)}`;
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? "any"];
  return types.map((type) => escapeHtml(String(type))).join(" or ");
}

function describe(schema: JsonSchema): string {
  const bounds = [
    schema.minLength === undefined ? "" : `at least ${schema.minLength} characters`,
    schema.maxLength === undefined ? "" : `at most ${schema.maxLength} characters`,
    schema.minimum === undefined ? "" : `at least ${schema.minimum}`,
    schema.maximum === undefined ? "" : `at most ${schema.maximum}`,
    schema.maxItems === undefined ? "" : `at most ${schema.maxItems} entries`,
    schema.default === undefined ? "" : `${JSON.stringify(schema.default)} where left out`,
  ].filter((bound) => bound !== "");
  const text = typeof schema.description === "string" ? schema.description : "";
  return bounds.length === 0 ? text : `${text} (${bounds.join(", ")})`.trim();
}

export function renderCall({ method, path, operation }: Call, document: OpenApiDocument, locate: LocateObject): string {
  const body = operation.requestBody;
  return `<section id="${operation.operationId}">
<h2>${renderInline(operation.summary)}</h2>
<p class="call">${renderAddress({ method, path, operation })}</p>
${operation.description
  .split("\n\n")
  .map((part) => `<p>${renderInline(part)}</p>`)
  .join("\n")}
${renderParameters(operation)}
${body ? `<h3>Body${body.required ? "" : " (may be left out)"}</h3>\n${renderContent(body.content, locate)}` : ""}
<h3>Answers</h3>
${renderResponses(operation, document, locate)}
</section>`;
}

export function renderAddress({ method, path }: Call): string {
  return `<span class="method ${method}">${method}</span> <code>${escapeHtml(path)}</code>`;
}

function renderParameters({ parameters = [] }: OpenApiOperation): string {
  if (parameters.length === 0) return "";
  const rows = parameters.map(
    (parameter) =>
      `<tr><td><code>${escapeHtml(parameter.name)}</code></td><td class="soft">${parameter.in}</td>` +
      `<td>${renderInline(parameter.description)}</td></tr>`,
  );
  return `<h3>Parameters</h3>\n<div class="table" tabindex="0"><table><thead><tr><th>Name</th><th>In</th><th>Meaning</th></tr></thead>
<tbody>${rows.join("")}</tbody></table></div>`;
}

function renderResponses({ responses }: OpenApiOperation, document: OpenApiDocument, locate: LocateObject): string {
  const failures: string[] = [];
  const sections: string[] = [];
  for (const [status, response] of Object.entries(responses)) {
    if ("$ref" in response) failures.push(`<li><code>${status}</code> ${renderFailure(response, document)}</li>`);
    else
      sections.push(
        `<p><code>${status}</code> ${renderInline(response.description)}</p>${renderContent(response.content, locate)}`,
      );
  }
  return `${sections.join("\n")}\n<ul class="failures">${failures.join("")}</ul>`;
}

function renderFailure({ $ref }: Reference, document: OpenApiDocument): string {
  const name = $ref.slice("#/components/responses/".length);
  return renderInline(String(document.components.responses?.[name]?.description ?? name)).replace(
    /<code>(\w+)<\/code>/g,
    (code, errorCode: string) => `<a href="${errorsHref}#${errorCode}">${code}</a>`,
  );
}

function renderContent(content: OpenApiResponse["content"] = {}, locate: LocateObject): string {
  return Object.entries(content)
    .map(([type, { schema, example }]) => {
      const shown = schema.$ref === undefined && example === undefined ? "" : renderSchema(schema, locate);
      const sample =
        example === undefined ? "" : `<pre tabindex="0">${escapeHtml(JSON.stringify(example, null, 2))}</pre>`;
      return `<p class="soft"><code>${escapeHtml(type)}</code> ${shown}</p>${sample}`;
    })
    .join("\n");
}
