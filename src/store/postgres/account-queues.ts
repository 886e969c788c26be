/**
 * The queue of each account's changes in this server. Without it each of them would hold a connection while it waits
 * for the lock of the account, and they could overtake each other.
 */
import { createKeyedQueue } from "../../lib/keyed-queue.ts";
import { Stop } from "../../lib/stop-signal.ts";
import { unavailable } from "./failures.ts";

export type RunInTurn = <T>(accountId: string, deadlineMs: number, work: () => Promise<T>) => Promise<T>;

const mostWaiting = 1_000;

export function createAccountQueues(): RunInTurn {
  const queue = createKeyedQueue({ maxWaiting: mostWaiting });

  /** Rejects with `unavailable` if too many wait already, or its turn has not come after `deadlineMs`. */
  return async (accountId, deadlineMs, work) => {
    const patience = new Stop();
    const entering = queue.enter(accountId, patience);
    if (entering === null) throw unavailable(new Error(`${mostWaiting} changes of this account wait already`));
    const timer = setTimeout(
      () => patience.abort(unavailable(new Error(`changes of this account took longer than ${deadlineMs} ms`))),
      deadlineMs,
    );
    const release = await entering.finally(() => clearTimeout(timer));
    try {
      return await work();
    } finally {
      release();
    }
  };
}
