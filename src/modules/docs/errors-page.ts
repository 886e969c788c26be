/** `/docs/errors`: each error code under the anchor that problems link to. */
import { type ErrorCode, errorCodes } from "../../domain/errors.ts";
import { errorGuide } from "./error-guide.ts";
import { renderInline, renderPage } from "./html.ts";

export function renderErrorsPage(): string {
  const codes = Object.keys(errorCodes) as ErrorCode[];
  const links = codes.map((code) => `<li><a href="#${code}"><code>${code}</code></a></li>`);
  return renderPage(
    "Errors – companiond",
    `<div class="page">
<nav aria-label="Error codes"><a href="/docs">API reference</a><ul>${links.join("")}</ul></nav>
<main>
<h1>Errors</h1>
<p>${renderInline("Every failure is `application/problem+json`. Programs go by `code`; `detail` is for people; `request_id` leads the operator to the reason in the log.")}</p>
${codes.map(renderError).join("\n")}
</main>
</div>`,
  );
}

function renderError(code: ErrorCode): string {
  const { status, title } = errorCodes[code];
  const { meaning, remedy } = errorGuide[code];
  return `<section id="${code}">
<h3><code>${code}</code> <span class="soft">${status} ${title}</span></h3>
<p>${renderInline(meaning)}</p>
<p><strong>What to do:</strong> ${renderInline(remedy)}</p>
</section>`;
}
