/** URL to bytes: public hosts alone, a few redirects, bounded in size and time, one request at a time for each host. */
import { unlessAborted, waitFor } from "../../../lib/deadline.ts";
import { type AddressRules, systemResolve } from "../../../lib/http/addresses.ts";
import type { Target } from "../../../lib/http/target.ts";
import { isOwnAddress } from "../../../lib/own-addresses.ts";
import { failFetching, failWithStatus } from "./failure.ts";
import { createFollower, type Followed } from "./redirects.ts";
import type { Robots } from "./robots.ts";
import { createRobotsCache } from "./robots-cache.ts";
import { listSitePages, type SitePages } from "./site-pages.ts";

export interface FetchOptions {
  readonly signal: AbortSignal;
  /** Validators of the last fetch: if the page is still the same, it is not sent again. */
  readonly etag?: string | null;
  readonly lastModified?: string | null;
  /** For pages that were not requested one by one: robots.txt is obeyed at each redirect, and its delay kept. */
  readonly obeysRobots?: boolean;
  /** Redirects to other origins are refused. */
  readonly onlyOrigin?: string;
}

export type Fetched =
  | { readonly status: "unchanged" }
  | {
      readonly status: "fetched";
      readonly bytes: Uint8Array;
      /** In lower case, without parameters; null if the host sends none. */
      readonly contentType: string | null;
      /** As the host names it, in lower case. */
      readonly charset: string | null;
      /** After redirects, without a fragment. */
      readonly finalUrl: string;
      /** For the next fetch. */
      readonly etag: string | null;
      readonly lastModified: string | null;
    };

/** All of it rejects with a `FetchingFailure`, whose message is for owners, or with the signal's reason. */
export interface Fetcher {
  fetch(url: string, options: FetchOptions): Promise<Fetched>;
  /** The pages of a site: from a sitemap, an index of sitemaps, or the address of a site that has one. */
  listPages(url: string, signal: AbortSignal): Promise<SitePages>;
}

/** The optional ones are what tests replace. */
export interface FetcherOptions
  extends Pick<AddressRules, "allowed" | "ownHosts">,
    Partial<Pick<AddressRules, "isOwn" | "resolve">> {
  readonly timeoutMs?: number;
  readonly wait?: (timeMs: number, signal: AbortSignal) => Promise<void>;
}

const maxBytes = 5 * 1024 * 1024;
/** Sites that want more are read at this pace: at a page a minute, a site would take a night. */
const maxDelayMs = 5000;

export function createFetcher(options: FetcherOptions): Fetcher {
  const { isOwn = isOwnAddress, resolve = systemResolve, timeoutMs = 20_000, wait = waitFor } = options;
  const follow = createFollower({ ...options, isOwn, resolve, timeoutMs, wait });
  const robots = createRobotsCache({
    nowMs: () => performance.now(),
    async fetch(url, most) {
      // Shared by all who ask, so no one's signal ends it.
      const { signal } = new AbortController();
      const { status, bytes } = await follow(url, { signal, maxBytes: most, cutsLonger: true });
      if (status === 429 || status >= 500) throw failWithStatus(status);
      return status === 200 ? bytes : null;
    },
  });
  const findRobots = (origin: string, signal: AbortSignal) => unlessAborted(signal, robots.find(origin));

  async function checkRobots(target: Target, signal: AbortSignal): Promise<number> {
    const robots = await findRobots(target.url.origin, signal);
    if (!isPathAllowed(robots, target.url)) throw failFetching("robots");
    return Math.min(robots.crawlDelay * 1000, maxDelayMs);
  }

  return {
    async fetch(url, { onlyOrigin, obeysRobots = false, ...conditions }) {
      const { signal, etag, lastModified } = conditions;
      const followed = await follow(url, {
        ...conditions,
        maxBytes,
        async beforeHop(target) {
          if (onlyOrigin !== undefined && target.url.origin !== onlyOrigin) throw failFetching("elsewhere");
          return obeysRobots ? await checkRobots(target, signal) : 0;
        },
      });
      if (followed.status === 304) {
        if (!etag && !lastModified) throw failFetching("unasked");
        return { status: "unchanged" };
      }
      if (followed.status !== 200) throw failWithStatus(followed.status);
      return toFetched(followed);
    },
    listPages: (url, signal) =>
      listSitePages(url, {
        signal,
        findRobots: (origin) => findRobots(origin, signal),
        isAllowed: isPathAllowed,
        async fetch(address) {
          const followed = await follow(address, { signal, maxBytes, cutsLonger: true });
          if (followed.status !== 200) throw failWithStatus(followed.status);
          return followed;
        },
      }),
  };
}

function isPathAllowed(robots: Robots, url: URL): boolean {
  return robots.isAllowed(url.pathname + url.search);
}

function toFetched({ bytes, headers, finalUrl }: Followed): Fetched {
  const type = headers.get("content-type")?.toLowerCase() ?? "";
  return {
    status: "fetched",
    bytes,
    contentType: /^\s*([^\s;,]+\/[^\s;,]+)/.exec(type)?.[1] ?? null,
    charset: /;\s*charset\s*=\s*["']?([\w.:-]+)/.exec(type)?.[1] ?? null,
    finalUrl: finalUrl.href,
    etag: headers.get("etag") ?? null,
    lastModified: headers.get("last-modified") ?? null,
  };
}
