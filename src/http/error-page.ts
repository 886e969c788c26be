/** An error as a page, for people whose browser requested one. */
import { type AppError, errorCodes } from "../domain/errors.ts";
import { contentSecurityPolicy, escapeHtml, plainStyle, renderPage } from "./html.ts";

export function renderErrorPage(error: AppError, requestId: string): string {
  const { status, title } = errorCodes[error.code];
  // The id helps only those who can look up the reason.
  const report = status >= 500 ? `<p class="small">Request id: <code>${escapeHtml(requestId)}</code></p>` : "";
  return renderPage(
    title,
    plainStyle,
    "",
    `<main>
<p class="name">${status}</p>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(error.message)}</p>
<p class="ways"><a href="/">To the start page</a></p>
${report}
</main>`,
  );
}

export function errorPagePolicy(): string {
  return contentSecurityPolicy({ style: plainStyle, isStill: true, ancestors: ["'none'"] });
}
