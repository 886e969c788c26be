/** Lists the pages of a site by its sitemaps: those of its own origin that robots.txt allows, up to a number. */

import { maxUrlLength } from "../../../lib/http/target.ts";
import { Slices } from "../../../lib/pause.ts";
import { decompress, isGzip } from "./decompression.ts";
import { FetchingFailure, failFetching } from "./failure.ts";
import type { Followed } from "./redirects.ts";
import type { Robots } from "./robots.ts";
import { readSitemap } from "./sitemap.ts";

export interface SitePages {
  /** Where all of the pages are. */
  readonly origin: string;
  /** In the order of the sitemaps, each once, without fragments. At least one. */
  readonly urls: readonly string[];
  /** Whether there may be more than these: too many pages or sitemaps, or a sitemap too large. */
  readonly isCut: boolean;
  /** Pages left out because robots.txt does not allow them. */
  readonly disallowed: number;
}

export interface SitePagesSource {
  readonly signal: AbortSignal;
  /** Resolves with a response of status 200; a body that is too large is cut. */
  fetch(url: string): Promise<Followed>;
  findRobots(origin: string): Promise<Robots>;
  isAllowed(robots: Robots, url: URL): boolean;
}

const maxPages = 500;
/** So that a site of nothing else ends too. */
const maxDisallowed = 2_500;
const maxSitemaps = 50;
const maxBytes = 5 * 1024 * 1024;
/** Of all sitemaps together, and the addresses that they may name: as many as the protocol allows one. */
const maxListedBytes = 16 * 1024 * 1024;
const maxEntries = 50_000;
/** An index may not name another by the protocol; some do. */
const maxDepth = 2;

/** Rejects with a `FetchingFailure`, or the signal's reason. */
export async function listSitePages(url: string, source: SitePagesSource): Promise<SitePages> {
  const first = await source.fetch(url);
  const { origin } = first.finalUrl;
  const listing = new Listing(origin, await source.findRobots(origin), source);
  if (!(await listing.read(first, 0))) await listing.discover();
  return listing.finish();
}

class Listing {
  readonly #origin: string;
  readonly #robots: Robots;
  readonly #source: SitePagesSource;
  readonly #urls = new Set<string>();
  readonly #disallowed = new Set<string>();
  readonly #asked = new Set<string>();
  #bytes = 0;
  #entries = 0;
  #isCut = false;

  constructor(origin: string, robots: Robots, source: SitePagesSource) {
    this.#origin = origin;
    this.#robots = robots;
    this.#source = source;
  }

  /** The address was that of a page: tries where a site usually has its sitemap. */
  async discover(): Promise<void> {
    const named = this.#robots.sitemaps.flatMap((text) => this.#readUrl(text)?.href ?? []);
    let isFound = false;
    for (const url of named.length > 0 ? named : [`${this.#origin}/sitemap.xml`]) {
      if (await this.#readAt(url, 0)) isFound = true;
    }
    if (!isFound) throw failFetching("noSitemap");
  }

  finish(): SitePages {
    if (this.#urls.size === 0) throw failFetching(this.#disallowed.size > 0 ? "robots" : "noPages");
    return {
      origin: this.#origin,
      urls: [...this.#urls],
      isCut: this.#isCut,
      disallowed: this.#disallowed.size,
    };
  }

  /** False if it is no sitemap. */
  async read({ bytes, isCut, finalUrl }: Followed, depth: number): Promise<boolean> {
    this.#asked.add(finalUrl.href);
    const given = { bytes, isCut };
    const plain = isGzip(bytes) ? await decompress(given, "gzip", maxBytes, this.#source.signal) : given;
    this.#bytes += plain.bytes.length;
    const sitemap = readSitemap(decodeText(plain.bytes));
    if (sitemap === null) return false;
    if (plain.isCut) this.#isCut = true;
    const further: string[] = [];
    const slices = new Slices();
    for (const entry of sitemap.entries) {
      if (slices.isOver) {
        await slices.pause();
        this.#source.signal.throwIfAborted();
      }
      if (entry === null) continue;
      if (++this.#entries > maxEntries) {
        this.#isCut = true;
        break;
      }
      const url = this.#readUrl(entry);
      if (url === null) continue;
      if (sitemap.kind === "index") further.push(url.href);
      else if (!this.#add(url)) break;
      if (further.length > maxSitemaps) break;
    }
    for (const url of further) {
      if (this.#isFull() || depth === maxDepth) this.#isCut = true;
      else await this.#readAt(url, depth + 1);
    }
    return true;
  }

  /**
   * A sitemap that does not exist is left out; one that cannot be fetched now fails the whole list, since pages that are
   * missing from it would count as deleted.
   */
  async #readAt(url: string, depth: number): Promise<boolean> {
    if (this.#asked.has(url)) return false;
    if (this.#asked.size >= maxSitemaps) {
      this.#isCut = true;
      return false;
    }
    this.#asked.add(url);
    try {
      const followed = await this.#source.fetch(url);
      return followed.finalUrl.origin === this.#origin && (await this.read(followed, depth));
    } catch (error) {
      if (error instanceof FetchingFailure && !error.isTransient) return false;
      throw error;
    }
  }

  /** False once the list is full. */
  #add(url: URL): boolean {
    if (this.#urls.has(url.href) || this.#disallowed.has(url.href)) return true;
    if (this.#isFull() || this.#disallowed.size >= maxDisallowed) {
      this.#isCut = true;
      return false;
    }
    const pages = this.#source.isAllowed(this.#robots, url) ? this.#urls : this.#disallowed;
    pages.add(url.href);
    return true;
  }

  #isFull(): boolean {
    return this.#urls.size >= maxPages || this.#bytes > maxListedBytes;
  }

  /** Null if it is no address of this site. */
  #readUrl(text: string): URL | null {
    const url = text.length > maxUrlLength ? null : URL.parse(text);
    if (url === null || url.origin !== this.#origin || url.username !== "" || url.password !== "") return null;
    url.hash = "";
    return url;
  }
}

/** UTF-8 by the protocol; UTF-16 shows by its byte order mark. */
function decodeText(bytes: Uint8Array): string {
  const mark = `${bytes[0]},${bytes[1]}`;
  return new TextDecoder(mark === "255,254" ? "utf-16le" : mark === "254,255" ? "utf-16be" : "utf-8").decode(bytes);
}
