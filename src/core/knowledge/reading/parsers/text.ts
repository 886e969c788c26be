/** Plain text and Markdown: as they are, once their characters are known. */
import type { ParsedDocument } from "../../../../domain/knowledge.ts";
import { decodeText } from "../characters.ts";
import { cleanText, cleanTitle } from "../plain-text.ts";

export function readPlainText(bytes: Uint8Array, charset: string | null): ParsedDocument {
  return { title: null, pages: [{ number: null, markdown: cleanText(decodeText(bytes, [charset])) }] };
}

export function readMarkdown(bytes: Uint8Array, charset: string | null): ParsedDocument {
  const text = cleanText(decodeText(bytes, [charset]));
  // Facts about the page that generators of sites put in front.
  const [front = "", facts = ""] = /^---\n([\s\S]{0,10000}?)\n---(?:\n|$)/.exec(text) ?? [];
  const markdown = cleanText(text.slice(front.length).replace(/\(data:[^()\s]*\)/gi, "()"));
  const named = /^title:[ \t]*(["']?)(.+?)\1[ \t]*$/m.exec(facts)?.[2];
  const heading = /^#[ \t]+(.+?)[ \t#]*$/m.exec(markdown.slice(0, 10_000))?.[1];
  return { title: cleanTitle(named ?? heading), pages: [{ number: null, markdown }] };
}
