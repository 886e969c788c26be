/** Follows a URL through its redirects: every hop is checked as if it were the first, and waits its turn at its host. */

import type { AllowedHost } from "../../../lib/allowed-hosts.ts";
import { startDeadline } from "../../../lib/deadline.ts";
import type { AddressRules } from "../../../lib/http/addresses.ts";
import { RefusedTarget, readTarget, type Target } from "../../../lib/http/target.ts";
import { createKeyedQueue } from "../../../lib/keyed-queue.ts";
import { failFetching } from "./failure.ts";
import { type HopResult, requestOnce } from "./hop.ts";

export interface FollowOptions {
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  /** Whether a longer body is cut off rather than refused. */
  readonly cutsLonger?: boolean;
  readonly etag?: string | null | undefined;
  readonly lastModified?: string | null | undefined;
  /** Refuses a hop by throwing; resolves with how long to wait before the request. */
  readonly beforeHop?: (target: Target) => Promise<number>;
}

export interface Followed extends HopResult {
  /** Without a fragment. */
  readonly finalUrl: URL;
}

/** Rejects with a `FetchingFailure`, or the signal's reason; resolves with any status that is no redirect. */
export type Follow = (url: string, options: FollowOptions) => Promise<Followed>;

export interface FollowerOptions extends AddressRules {
  /** Of all hops together, without the wait for their turns. */
  readonly timeoutMs: number;
  readonly wait: (timeMs: number, signal: AbortSignal) => Promise<void>;
}

const maxRedirects = 3;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const maxWaitingPerHost = 50;
const turnTimeoutMs = 60_000;

export function createFollower({ timeoutMs, wait, ...rules }: FollowerOptions): Follow {
  const hosts = createKeyedQueue({ maxWaiting: maxWaitingPerHost });

  /** Runs the task while no other request to the host does. */
  async function inTurn<Result>(host: string, signal: AbortSignal, task: () => Promise<Result>): Promise<Result> {
    const deadline = startDeadline(signal, turnTimeoutMs, () => failFetching("busy"));
    let release: (() => void) | null;
    try {
      release = await hosts.enter(host, deadline.signal);
    } finally {
      deadline.end();
    }
    if (release === null) throw failFetching("busy");
    try {
      return await task();
    } finally {
      release();
    }
  }

  return async (url, options) => {
    const { signal, cutsLonger = false, beforeHop } = options;
    let target = toTarget(url, null, rules.allowed);
    let leftMs = timeoutMs;

    async function request(asked: Target): Promise<HopResult> {
      const startedMs = performance.now();
      const deadline = startDeadline(signal, leftMs, () => failFetching("late"));
      try {
        return await requestOnce(asked, { ...options, ...rules }, deadline.signal);
      } finally {
        deadline.end();
        leftMs = Math.max(0, leftMs - (performance.now() - startedMs));
      }
    }

    for (let redirects = 0; redirects <= maxRedirects; redirects++) {
      const asked = target;
      const delayMs = (await beforeHop?.(asked)) ?? 0;
      const hop = await inTurn(asked.host, signal, async () => {
        // Within the turn, so that no other request comes in between.
        if (delayMs > 0) await wait(delayMs, signal);
        return await request(asked);
      });
      if (hop.isCut && !cutsLonger) throw failFetching("large");
      if (!redirectStatuses.has(hop.status)) return { ...hop, finalUrl: asked.url };
      const location = hop.headers.get("location");
      if (location === undefined) throw failFetching("redirect");
      target = toTarget(location, asked.url, rules.allowed);
    }
    throw failFetching("redirects");
  };
}

/** Throws a `FetchingFailure`. */
function toTarget(text: string, base: URL | null, allowed: readonly AllowedHost[]): Target {
  const url = base === null ? URL.parse(text) : URL.parse(text, base.href);
  if (url === null) throw failFetching(base === null ? "scheme" : "redirect");
  try {
    return readTarget(url, allowed);
  } catch (error) {
    throw error instanceof RefusedTarget ? failFetching(error.fault) : error;
  }
}
