/** What the pages have in common: escaping, the frame of a document, and a policy that lets nothing run but our own files. */

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text as it may stand in an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? "");
}

export interface PagePolicy {
  /** The page's own style sheet, allowed by its hash. */
  style: string;
  /** Further sources of images. */
  images?: readonly string[];
  /** Further addresses that scripts may connect to. */
  connections?: readonly string[];
  /** Who may show the page in a frame. */
  ancestors: readonly string[];
}

export function contentSecurityPolicy({ style, images = [], connections = [], ancestors }: PagePolicy): string {
  const styleHash = new Bun.CryptoHasher("sha256").update(style).digest("base64");
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'sha256-${styleHash}'`,
    ["img-src 'self' data:", ...images].join(" "),
    ["connect-src 'self'", ...connections].join(" "),
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors.join(" ")}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

/** A whole document; `head` and `body` are markup. */
export function renderPage(title: string, style: string, head: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<style>${style}</style>
${head}
</head>
<body>
${body}
</body>
</html>
`;
}
