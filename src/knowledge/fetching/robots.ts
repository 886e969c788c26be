/** robots.txt as RFC 9309 reads it: which paths of a site may be fetched; no I/O. */
import { Slices } from "../../lib/pause.ts";

export interface Robots {
  /** `path` is that of the URL with its query. */
  isAllowed(path: string): boolean;
  /** Seconds between two requests; 0 if it asks for none. */
  readonly crawlDelay: number;
  /** What its `Sitemap` lines say, unchecked. */
  readonly sitemaps: readonly string[];
}

interface Rule {
  readonly isAllow: boolean;
  readonly pattern: string;
}

interface Group {
  readonly rules: Rule[];
  crawlDelay: number;
}

/** More is not read, as the standard allows. */
export const maxRobotsBytes = 500 * 1024;

const product = "companiond";
const maxSitemaps = 20;
/** So that a path is judged within a millisecond or two. */
const maxRules = 10_000;

/** Of a site without a robots.txt. */
export const noRobots: Robots = { isAllowed: () => true, crawlDelay: 0, sitemaps: [] };

/** In slices: half a megabyte has a hundred thousand lines. */
export async function parseRobots(text: string): Promise<Robots> {
  const own: Group = { rules: [], crawlDelay: 0 };
  const everyones: Group = { rules: [], crawlDelay: 0 };
  const sitemaps: string[] = [];
  let named = new Set<Group>();
  let isNaming = false;
  let isOwnNamed = false;
  const slices = new Slices();
  for (const line of text.split(/[\r\n]+/)) {
    if (slices.isOver) await slices.pause();
    const [, key = "", rest = ""] = /^[\s\uFEFF]*([A-Za-z-]+)\s*:(.*)$/.exec(line) ?? [];
    const value = rest.replace(/(^|\s)#.*$/, "").trim();
    switch (key.toLowerCase()) {
      case "user-agent": {
        // Several in a row name one group; the first rule ends the row.
        if (!isNaming) named = new Set();
        isNaming = true;
        const agent = (/^[A-Za-z_-]+/.exec(value)?.[0] ?? value).toLowerCase();
        if (agent === product) {
          named.add(own);
          isOwnNamed = true;
        } else if (value === "*") named.add(everyones);
        break;
      }
      case "allow":
      case "disallow": {
        isNaming = false;
        // An empty one is no rule.
        const rule = { isAllow: key.toLowerCase() === "allow", pattern: toComparable(value) };
        if (value !== "") for (const group of named) if (group.rules.length < maxRules) group.rules.push(rule);
        break;
      }
      case "crawl-delay": {
        isNaming = false;
        const seconds = /^\d{1,6}(\.\d{1,3})?$/.test(value) ? Number(value) : 0;
        for (const group of named) group.crawlDelay = seconds;
        break;
      }
      case "sitemap":
        if (sitemaps.length < maxSitemaps) sitemaps.push(value);
        break;
    }
  }
  const { rules, crawlDelay } = isOwnNamed ? own : everyones;
  return { isAllowed: (path) => judge(rules, toComparable(path)), crawlDelay, sitemaps };
}

/** The longest rule that matches decides; of two, the one that allows. */
function judge(rules: readonly Rule[], path: string): boolean {
  if (path === "/robots.txt") return true;
  let longest = -1;
  let isAllowed = true;
  for (const { isAllow, pattern } of rules) {
    if (pattern.length < longest || (pattern.length === longest && !isAllow)) continue;
    if (!matches(pattern, path)) continue;
    longest = pattern.length;
    isAllowed = isAllow;
  }
  return isAllowed;
}

/** `*` is any text, `$` at the end is the end. Each part is looked for once, so that no pattern takes long. */
function matches(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith("$");
  const text = isAnchored ? pattern.slice(0, -1) : pattern;
  let star = text.indexOf("*");
  if (star === -1) return isAnchored ? path === text : path.startsWith(text);
  if (!path.startsWith(text.slice(0, star))) return false;
  let at = star;
  for (;;) {
    const from = star + 1;
    star = text.indexOf("*", from);
    if (star === -1) {
      const last = text.slice(from);
      if (isAnchored) return path.length - last.length >= at && path.endsWith(last);
      return path.includes(last, at);
    }
    const part = text.slice(from, star);
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
}

/** The same path in the same spelling: escapes in upper case, and none for what needs none; other letters escaped. */
function toComparable(path: string): string {
  return path
    .replace(/%([0-9a-f]{2})/gi, (escaped: string, hex: string) => {
      const letter = String.fromCharCode(Number.parseInt(hex, 16));
      return /[A-Za-z0-9\-._~]/.test(letter) ? letter : escaped.toUpperCase();
    })
    .replace(/[^\x21-\x7e]+/gu, (letters) => encodeURIComponent(letters.toWellFormed()));
}
