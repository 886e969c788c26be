/**
 * Changes of one account at this server, one after the other in the order in which they were asked for. They would wait
 * for the account's lock anyway; here those that wait hold no connection, so that a burst on one account leaves the
 * connections to the others.
 */
import { createKeyedQueue } from "../../lib/keyed-queue.ts";
import { Stop } from "../../lib/stop-signal.ts";
import { unavailable } from "./failures.ts";

const mostWaiting = 1_000;
const longestWaitMs = 10_000;

/** `run` rejects with `unavailable` where too many wait, or the turn does not come in time. */
export function createChangeOrder(waitMs = longestWaitMs) {
  const queue = createKeyedQueue({ maxWaiting: mostWaiting });

  return async function run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const patience = new Stop();
    const entering = queue.enter(accountId, patience);
    if (entering === null) throw unavailable(new Error("too many changes of one account wait"));
    const timer = setTimeout(
      () => patience.abort(unavailable(new Error(`earlier changes of the account took longer than ${waitMs} ms`))),
      waitMs,
    );
    const release = await entering.finally(() => clearTimeout(timer));
    try {
      return await work();
    } finally {
      release();
    }
  };
}
