/** What someone sees who follows a link to a companion that is not there, or no longer. */
import { contentSecurityPolicy, plainStyle, renderPage } from "../../http/html.ts";

export function renderMissingPage(): string {
  return renderPage(
    "Chat not found",
    plainStyle,
    "",
    "<main><h1>This chat is not available.</h1><p>The link is mistyped, or it has been withdrawn.</p></main>",
  );
}

/** A website that had the companion in a frame may show that it has gone. */
export function missingPagePolicy(): string {
  return contentSecurityPolicy({ style: plainStyle, isStill: true, ancestors: ["*"] });
}
