/** Text of the documentation as markup. */
import { escapeHtml } from "../../http/html.ts";

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
