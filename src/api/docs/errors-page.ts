/** `/docs/errors`: each error code under the anchor that problems link to. */
import { type ErrorCode, errorCodes } from "../../domain/errors.ts";
import { errorGuide } from "./error-guide.ts";
import { type DocsPlace, framePage } from "./frame.ts";
import { renderInline } from "./html.ts";
import { errorsHref } from "./places.ts";

export function renderErrorsPage(places: readonly DocsPlace[]): string {
  const codes = Object.keys(errorCodes) as ErrorCode[];
  const body = `<h1>Errors</h1>
<p>${renderInline("Every failure is `application/problem+json`. Programs use `code`; `detail` is for people; `request_id` leads the operator to the reason in the log. Outside of `/api` and `/v1`, a browser that asks for HTML gets a page instead.")}</p>
${codes.map(renderError).join("\n")}`;
  return framePage({ title: "Errors", href: errorsHref, places, body });
}

function renderError(code: ErrorCode): string {
  const { status, title } = errorCodes[code];
  const { meaning, remedy } = errorGuide[code];
  return `<section id="${code}">
<h2><code>${code}</code> <span class="soft">${status} ${title}</span></h2>
<p>${renderInline(meaning)}</p>
<p><strong>What to do:</strong> ${renderInline(remedy)}</p>
</section>`;
}
