/** Renders JSON Schemas as tables of fields. */
import { escapeHtml } from "../../http/html.ts";
import { renderInline } from "./html.ts";
import type { LocateObject } from "./objects.ts";
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
