/** The sources of a reply, as its readers see them: a footer of Markdown, or a list for programs. */
import type { CitedSource, NumberedPassage } from "../../../domain/knowledge.ts";

/** By number. */
export function toSources(passages: readonly NumberedPassage[]): CitedSource[] {
  return passages.map(({ n, title, url, page }) => ({ n, title, url, page })).sort((a, b) => a.n - b.n);
}

/** A line for each source, with the first of its cited numbers: passages of one page of a website are one source. */
export function writeFooter(cited: readonly NumberedPassage[]): string {
  const lines = new Map<string, string>();
  for (const { n, sourceId, title, url } of [...cited].sort((a, b) => a.n - b.n)) {
    const name = JSON.stringify([sourceId, title, url]);
    if (lines.has(name)) continue;
    lines.set(name, `[${n}] ${escapeMarkdown(title)}${url === null ? "" : `: ${escapeAddress(url)}`}`);
  }
  return [...lines.values()].join("\n");
}

/** As text wherever it stands in a line, addresses too: titles are taken from pages that anybody may have written. */
function escapeMarkdown(title: string): string {
  return title
    .replace(turning, "")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*_[\]<>~|&]|:(?=\/\/)|(?<=\bwww)\./gi, "\\$&");
}

/** What would end the address, or begin something else: none of it is left in an address as browsers write it. */
function escapeAddress(url: string): string {
  return url.replace(/[\s<>"`\\|^{}[\]\u202a-\u202e\u2066-\u2069]/g, (character) => encodeURIComponent(character));
}

/** Turns the direction in which all that follows is shown: the address behind a title, too. */
const turning = /[\u202a-\u202e\u2066-\u2069]/g;
