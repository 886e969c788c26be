/** Finds servers that are no longer alive, and deletes what they have left. Each server does so each second. */
import type { Log } from "../../../lib/log.ts";
import type { Pool } from "../pool.ts";
import type { Session } from "./session.ts";

export interface ReaperOptions {
  pool: Pick<Pool, "once">;
  log: Log;
}

interface Found {
  number: number;
  isAlive: boolean;
}

/** Between two checks that find no lock: a live server has acquired its own again by then. */
const confirmMs = 600;
/** After this server lost its own session: PostgreSQL may have crashed, and all locks with it. */
const graceMs = 3_000;

/** All who are on the list or hold tickets; each step of the recursion finds the next number in the index. */
const checkStatement = `WITH RECURSIVE holders AS (
    (SELECT instance_number AS number FROM open_turns ORDER BY instance_number LIMIT 1)
    UNION ALL
    SELECT (SELECT o.instance_number FROM open_turns o WHERE o.instance_number > h.number ORDER BY 1 LIMIT 1)
      FROM holders h WHERE h.number IS NOT NULL
  ), known AS (SELECT number FROM instances UNION SELECT number FROM holders WHERE number IS NOT NULL)
  SELECT k.number::float8 AS number, l.number IS NOT NULL AS "isAlive"
    FROM known k LEFT JOIN live_instances() AS l (number) ON l.number = k.number`;

export class Reaper {
  /** Tickets of dead servers that this one deleted. */
  reapedCount = 0;
  /** Live servers at the last check, this one included. */
  liveCount = 0;
  readonly #options: ReaperOptions;
  /** Without a lock at an earlier check, and when that was. */
  #suspects = new Map<number, number>();
  #quietUntilMs = 0;
  #isReaping = false;

  constructor(options: ReaperOptions) {
    this.#options = options;
  }

  /** This server's session is new: the others' may be reconnecting, too. */
  beginGrace(): void {
    this.#suspects.clear();
    this.#quietUntilMs = performance.now() + graceMs;
  }

  /** Whether a server seems to be dead: check again soon. */
  async check(session: Session): Promise<boolean> {
    const found = await session.ask<Found>(checkStatement);
    this.liveCount = found.filter(({ isAlive }) => isAlive).length;
    const nowMs = performance.now();
    if (nowMs < this.#quietUntilMs) return false;
    const missing = found.filter(({ isAlive }) => !isAlive).map(({ number }) => number);
    this.#suspects = new Map(missing.map((number) => [number, this.#suspects.get(number) ?? nowMs]));
    const dead = missing.filter((number) => nowMs - (this.#suspects.get(number) ?? nowMs) >= confirmMs);
    if (dead.length > 0) void this.#reap(dead);
    return missing.length > dead.length;
  }

  /** On another connection: the locks of this server's session must not wait for it. */
  async #reap(numbers: number[]): Promise<void> {
    if (this.#isReaping) return;
    this.#isReaping = true;
    const { pool, log } = this.#options;
    try {
      const row = await pool.once.get<{ count: number }>("SELECT reap_instances($1::bigint[])::float8 AS count", [
        numbers,
      ]);
      const tickets = row?.count ?? 0;
      this.reapedCount += tickets;
      log.info("another server is gone", { instances: numbers, tickets });
    } catch (error) {
      log.warn("what a server has left cannot be deleted yet", { error });
    } finally {
      this.#isReaping = false;
    }
  }
}
