/** robots.txt as RFC 9309 reads it: which paths of a site may be fetched; no I/O. */
import { Slices } from "../../../lib/pause.ts";
import { PathRules } from "./path-rules.ts";

export interface Robots {
  /** `path` is that of the URL with its query. */
  isAllowed(path: string): boolean;
  /** Seconds between two requests; 0 if it asks for none. */
  readonly crawlDelay: number;
  /** The values of its `Sitemap` lines, unchecked. */
  readonly sitemaps: readonly string[];
}

interface Group {
  readonly rules: PathRules;
  crawlDelay: number;
}

/** More is not read, as the standard allows. */
export const maxRobotsBytes = 500 * 1024;

const product = "companiond";
const maxSitemaps = 20;
/** Of a site without a robots.txt. */
export const noRobots: Robots = { isAllowed: () => true, crawlDelay: 0, sitemaps: [] };

/**
 * In slices: half a megabyte has a hundred thousand lines. Null if it has more rules than can be followed: to follow some
 * of them would be to pass over the others.
 */
export async function parseRobots(text: string): Promise<Robots | null> {
  const own: Group = { rules: new PathRules(), crawlDelay: 0 };
  const everyones: Group = { rules: new PathRules(), crawlDelay: 0 };
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
        const isAllow = key.toLowerCase() === "allow";
        if (value !== "") for (const { rules } of named) rules.add(toComparable(value), isAllow);
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
  if (rules.isTooLong) return null;
  const isAllowed = (path: string) => path === "/robots.txt" || rules.isAllowed(toComparable(path));
  return { isAllowed, crawlDelay, sitemaps };
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
