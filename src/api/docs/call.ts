/** One API call, rendered as HTML. */
import { escapeHtml } from "../../http/html.ts";
import type { OpenApiDocument, OpenApiOperation, OpenApiResponse } from "./document.ts";
import type { Reference } from "./error-responses.ts";
import { renderInline } from "./html.ts";
import type { LocateObject } from "./objects.ts";
import { type Call, errorsHref } from "./places.ts";
import { renderSchema } from "./schema-table.ts";

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
