/** `/docs`: the API document for people. */
import type { OpenApiDocument, OpenApiOperation, OpenApiResponse, Reference } from "./document.ts";
import { escapeHtml, renderInline, renderPage, renderText } from "./html.ts";
import { renderSchema } from "./schema-table.ts";

interface Call {
  method: string;
  path: string;
  operation: OpenApiOperation;
}

export function renderReferencePage(document: OpenApiDocument): string {
  const calls = listCalls(document);
  const tags = document.tags.filter(({ name }) => calls.some(({ operation }) => operation.tags.includes(name)));
  const callsOf = (tag: string) => calls.filter(({ operation }) => operation.tags.includes(tag));
  const navigation = tags.map(
    ({ name }) => `<strong>${escapeHtml(name)}</strong><ul>${callsOf(name).map(renderLink).join("")}</ul>`,
  );
  const sections = tags.map(
    ({ name, description }) =>
      `<h2>${escapeHtml(name)}</h2>\n<p>${renderInline(description)}</p>\n` +
      callsOf(name)
        .map((call) => renderCall(call, document))
        .join("\n"),
  );
  const schemas = Object.entries(document.components.schemas ?? {}).map(
    ([name, schema]) => `<h3 id="schema-${escapeHtml(name)}">${escapeHtml(name)}</h3>\n${renderSchema(schema)}`,
  );
  return renderPage(
    "API reference – companiond",
    `<div class="page">
<nav aria-label="Calls">${navigation.join("\n")}
<strong>More</strong><ul><li><a href="#objects">Objects</a></li><li><a href="/docs/errors">Errors</a></li>
<li><a href="/openapi.json">OpenAPI document</a></li></ul></nav>
<main>
<h1>API reference</h1>
<p class="soft">companiond ${escapeHtml(document.info.version)}${renderPlace(document)}</p>
${renderText(document.info.description)}
${sections.join("\n")}
<h2 id="objects">Objects</h2>
${schemas.join("\n")}
</main>
</div>`,
  );
}

function listCalls(document: OpenApiDocument): Call[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

function renderLink({ operation }: Call): string {
  return `<li><a href="#${operation.operationId}">${renderInline(operation.summary)}</a></li>`;
}

function renderCall({ method, path, operation }: Call, document: OpenApiDocument): string {
  const body = operation.requestBody;
  return `<section id="${operation.operationId}">
<h3>${renderInline(operation.summary)}</h3>
<p class="call"><span class="method ${method}">${method}</span> <code>${escapeHtml(path)}</code>
<span class="soft">${renderAccess(operation)}</span></p>
${operation.description === undefined ? "" : `<p>${renderInline(operation.description)}</p>`}
${renderParameters(operation)}
${body ? `<h4>Body${body.required ? "" : " (may be left out)"}</h4>\n${renderContent(body.content)}` : ""}
<h4>Answers</h4>
${renderResponses(operation, document)}
</section>`;
}

function renderAccess({ security }: OpenApiOperation): string {
  const [first] = security;
  if (first === undefined) return "no API key";
  const [scope] = first.apiKey ?? [];
  return scope === undefined ? "the dashboard’s session" : `scope <code>${escapeHtml(scope)}</code>`;
}

function renderParameters({ parameters = [] }: OpenApiOperation): string {
  if (parameters.length === 0) return "";
  const rows = parameters.map(
    (parameter) =>
      `<tr><td><code>${escapeHtml(parameter.name)}</code></td><td class="soft">${parameter.in}</td>` +
      `<td>${renderInline(parameter.description)}</td></tr>`,
  );
  return `<h4>Parameters</h4>\n<div class="table"><table><thead><tr><th>Name</th><th>In</th><th>Meaning</th></tr></thead>
<tbody>${rows.join("")}</tbody></table></div>`;
}

function renderResponses({ responses }: OpenApiOperation, document: OpenApiDocument): string {
  const failures: string[] = [];
  const answers: string[] = [];
  for (const [status, response] of Object.entries(responses)) {
    if ("$ref" in response) failures.push(`<li><code>${status}</code> ${renderFailure(response, document)}</li>`);
    else
      answers.push(
        `<p><code>${status}</code> ${renderInline(response.description)}</p>${renderContent(response.content)}`,
      );
  }
  return `${answers.join("\n")}\n<ul class="failures">${failures.join("")}</ul>`;
}

function renderFailure({ $ref }: Reference, document: OpenApiDocument): string {
  const name = $ref.slice("#/components/responses/".length);
  return renderInline(String(document.components.responses?.[name]?.description ?? name)).replace(
    /<code>(\w+)<\/code>/g,
    (code, errorCode: string) => `<a href="/docs/errors#${errorCode}">${code}</a>`,
  );
}

function renderContent(content: OpenApiResponse["content"] = {}): string {
  return Object.entries(content)
    .map(([type, { schema, example }]) => {
      const shown = schema.$ref === undefined && example === undefined ? "" : renderSchema(schema);
      const sample = example === undefined ? "" : `<pre>${escapeHtml(JSON.stringify(example, null, 2))}</pre>`;
      return `<p class="soft"><code>${escapeHtml(type)}</code> ${shown}</p>${sample}`;
    })
    .join("\n");
}

/** Empty where the server does not know its own address. */
function renderPlace({ servers }: OpenApiDocument): string {
  const url = servers[0]?.url ?? "/";
  return url === "/" ? "" : ` at <code>${escapeHtml(url)}</code>`;
}
