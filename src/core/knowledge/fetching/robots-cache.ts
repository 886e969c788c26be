/** Fetches the robots.txt of each site once in a while, and caches it. */
import { FetchingFailure, failFetching } from "./failure.ts";
import { maxRobotsBytes, noRobots, parseRobots, type Robots } from "./robots.ts";

export interface RobotsCache {
  /**
   * Without a robots.txt all is allowed. Rejects with a `FetchingFailure` if the site has trouble with giving it: the
   * standard then wants nothing fetched.
   */
  find(origin: string): Promise<Robots>;
}

export interface RobotsSource {
  /** Up to `maxBytes`; null if the site has none. */
  fetch(url: string, maxBytes: number): Promise<Uint8Array | null>;
  nowMs(): number;
}

/** As long as reading a large site takes. */
const keptMs = 15 * 60_000;
const failureKeptMs = 60_000;
const maxKept = 200;

export function createRobotsCache(source: RobotsSource): RobotsCache {
  const kept = new Map<string, { robots: Promise<Robots>; untilMs: number }>();

  async function read(origin: string): Promise<Robots> {
    const robots = await readFile(origin);
    if (robots === null) throw failFetching("robotsLong");
    return robots;
  }

  /** Null if it has too many rules. */
  async function readFile(origin: string): Promise<Robots | null> {
    try {
      const bytes = await source.fetch(`${origin}/robots.txt`, maxRobotsBytes);
      return bytes === null ? noRobots : await parseRobots(new TextDecoder().decode(bytes));
    } catch (error) {
      // What does not pass, such as redirects without end, is as good as none.
      if (error instanceof FetchingFailure && !error.isTransient) return noRobots;
      throw failFetching("robotsUnread");
    }
  }

  return {
    find(origin) {
      const nowMs = source.nowMs();
      const known = kept.get(origin);
      if (known !== undefined && known.untilMs > nowMs) return known.robots;
      kept.delete(origin);
      for (const oldest of kept.keys()) {
        if (kept.size < maxKept) break;
        kept.delete(oldest);
      }
      const entry = { robots: read(origin), untilMs: nowMs + keptMs };
      kept.set(origin, entry);
      entry.robots.catch(() => {
        entry.untilMs = source.nowMs() + failureKeptMs;
      });
      return entry.robots;
    },
  };
}
