/** The page for a link to a companion that does not exist, or no longer does. */
import { contentSecurityPolicy, plainStyle, renderPage } from "../../http/html.ts";

export function renderMissingPage(): string {
  return renderPage(
    "Chat not found",
    plainStyle,
    "",
    "<main><h1>This chat is not available.</h1><p>The link is mistyped, or it has been withdrawn.</p></main>",
  );
}

/** Websites that framed the companion may show this page in its place. */
export function missingPagePolicy(): string {
  return contentSecurityPolicy({ style: plainStyle, isStill: true, ancestors: ["*"] });
}
