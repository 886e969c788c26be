/**
 * Finds the addresses in a sitemap; no I/O. Written by hand: a parser that builds a tree of 5 MiB would hold up everyone
 * else, and of XML only one element matters. No entity is expanded but the five of the language, and numbers.
 */
import { decodeXmlText } from "../../../lib/xml-text.ts";

export interface Sitemap {
  /** An index names further sitemaps instead of pages. */
  readonly kind: "pages" | "index";
  /** Addresses as they stand there; null now and then, so that the reader may pause. */
  readonly entries: Iterable<string | null>;
}

/** Null if it is none, such as a page. */
export function readSitemap(text: string): Sitemap | null {
  const start = /\S/.exec(text)?.index ?? text.length;
  if (text[start] !== "<") {
    return /^https?:\/\/\S/i.test(text.slice(start, start + 10)) ? { kind: "pages", entries: readLines(text) } : null;
  }
  const tags = scanTags(text, start);
  for (let next = tags.next(); !next.done; next = tags.next()) {
    if (next.value === null) continue;
    const [, prefix = "", name = ""] = /^(?:([^:]*:))?(.*)$/s.exec(next.value.name) ?? [];
    if (name !== "urlset" && name !== "sitemapindex") return null;
    return { kind: name === "urlset" ? "pages" : "index", entries: readLocations(text, tags, `${prefix}loc`) };
  }
  return null;
}

interface Tag {
  readonly name: string;
  /** Where the tag ends. */
  readonly end: number;
}

const tagsPerPause = 200;
const maxLocation = 4096;

function* readLines(text: string): Generator<string | null> {
  let count = 0;
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf("\n", at);
    const end = found === -1 ? text.length : found;
    if (end - at <= maxLocation) {
      const line = text.slice(at, end).trim();
      if (line !== "") yield line;
    }
    if (++count % tagsPerPause === 0) yield null;
    at = end + 1;
  }
}

/** Only of this prefix: pictures and films have prefixes of their own. */
function* readLocations(text: string, tags: Generator<Tag | null, void>, name: string): Generator<string | null> {
  let end = 0;
  for (const tag of tags) {
    if (tag === null) yield null;
    else if (tag.name === name) {
      // Only where it is not known from the last time: many could begin before one ends.
      if (end < tag.end) end = text.indexOf("</", tag.end);
      if (end === -1) return;
      const location = end - tag.end > maxLocation ? null : decodeXmlText(text.slice(tag.end, end));
      if (location !== null) yield location;
    }
  }
}

/** Opening tags, skipping everything else; reads no character more than a few times, for any text. */
function* scanTags(text: string, start: number): Generator<Tag | null, void> {
  let count = 0;
  for (let at = text.indexOf("<", start); at !== -1; at = text.indexOf("<", at)) {
    if (++count % tagsPerPause === 0) yield null;
    const closing = findClosing(text, at);
    const end = text.indexOf(closing, at + 1);
    // What never ends was cut off.
    if (end === -1) return;
    const next = end + closing.length;
    if (closing === ">" && /[A-Za-z_]/.test(text[at + 1] ?? "")) {
      let nameEnd = at + 1;
      while (nameEnd < end && /[^\s/]/.test(text[nameEnd] ?? "") && nameEnd - at < 100) nameEnd++;
      yield { name: text.slice(at + 1, nameEnd), end: next };
    }
    at = next;
  }
}

function findClosing(text: string, at: number): string {
  if (text.startsWith("<!--", at)) return "-->";
  if (text.startsWith("<![CDATA[", at)) return "]]>";
  if (text.startsWith("<?", at)) return "?>";
  if (!text.startsWith("<!", at)) return ">";
  // A document type; what it declares stands in brackets.
  const bracket = text.slice(at, at + 1000).indexOf("[");
  const plain = text.slice(at, at + 1000).indexOf(">");
  return bracket !== -1 && (plain === -1 || bracket < plain) ? "]>" : ">";
}
