/** Work that one server does for all: locks on the session by which others know that this server is alive. */
import type { Duties, Duty } from "../../../contracts/coordination.ts";
import { createKeyedQueue } from "../../../lib/keyed-queue.ts";
import { unavailable } from "../failures.ts";
import type { Instance } from "./instance.ts";
import type { Session } from "./session.ts";

const patienceMs = 30_000;
const askAgainMs = 100;
/** Work of one name that waits at this server. */
const maxWaiting = 100;

export function createDuties(instance: Instance): Duties {
  const queue = createKeyedQueue({ maxWaiting });

  function requireSession(): Session {
    const { session } = instance;
    if (session === null) throw unavailable(new Error("there is no session with the database"));
    return session;
  }

  /** A session may take its own lock again; so this server's work of one name queues here. */
  async function queueHere(name: string, untilMs: number): Promise<() => void> {
    const signal = AbortSignal.timeout(Math.max(0, untilMs - performance.now()));
    const turn = queue.enter(name, signal);
    if (turn === null) throw unavailable(new Error("too much of the same work waits"));
    return await turn.catch((reason: unknown) => {
      throw unavailable(reason);
    });
  }

  async function lock(name: string, untilMs: number): Promise<Session> {
    for (;;) {
      const session = requireSession();
      const [row] = await session.ask<{ isFree: boolean }>(
        `SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS "isFree"`,
        [name],
      );
      if (row?.isFree) return session;
      if (performance.now() >= untilMs) throw unavailable(new Error("another server is at it"));
      await Bun.sleep(askAgainMs);
    }
  }

  return {
    async take(duty: Duty) {
      const [row] = await requireSession().ask<{ isOurs: boolean }>(
        `SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS "isOurs"`,
        [`duty ${duty}`],
      );
      return row?.isOurs ?? false;
    },
    async exclude(name, work) {
      const untilMs = performance.now() + patienceMs;
      const release = await queueHere(name, untilMs);
      const lockName = `work ${name}`;
      try {
        const session = await lock(lockName, untilMs);
        try {
          return await work();
        } finally {
          // A session that has ended holds no locks.
          await session
            .ask("SELECT pg_advisory_unlock(hashtextextended($1, 0))", [lockName])
            .catch(() => session.end());
        }
      } finally {
        release();
      }
    },
  };
}
