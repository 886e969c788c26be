/** Pages of the documentation: everything in one file, nothing from elsewhere, no script. */
import { styleText } from "./style.ts";

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? "");
}

/** Text with `code` and **strong** in it. */
export function renderInline(text: string): string {
  return escapeHtml(text)
    .replace(/`([^`]+)`/g, "<code>$1</code>")
    .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>");
}

/** Paragraphs and lists, separated by empty lines. */
export function renderText(text: string): string {
  return text
    .split("\n\n")
    .map((block) => {
      if (!block.startsWith("- ")) return `<p>${renderInline(block)}</p>`;
      const items = block.split("\n").map((line) => `<li>${renderInline(line.slice(2))}</li>`);
      return `<ul>${items.join("")}</ul>`;
    })
    .join("\n");
}

export function renderPage(title: string, body: string): string {
  return (
    `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n` +
    `<meta name="viewport" content="width=device-width, initial-scale=1">\n` +
    `<meta name="color-scheme" content="light dark">\n<title>${escapeHtml(title)}</title>\n` +
    `<style>${styleText}</style>\n</head>\n<body>\n${body}\n</body>\n</html>\n`
  );
}

/** Allows the one style sheet by its digest, and nothing else. */
export function contentSecurityPolicy(): string {
  const digest = new Bun.CryptoHasher("sha256").update(styleText).digest("base64");
  return `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}
