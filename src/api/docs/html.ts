/** Renders documentation text as HTML. */
import { escapeHtml } from "../../http/html.ts";

/** Text that may contain `code` and **strong**. */
export function renderInline(text: string): string {
  return escapeHtml(text)
    .replace(/`([^`]+)`/g, "<code>$1</code>")
    .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>");
}

/** Paragraphs and lists, separated by blank lines. */
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
