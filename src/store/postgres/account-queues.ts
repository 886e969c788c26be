/**
 * The queue of each account's changes in this server. Without it each of them would hold a connection while it waits
 * for the lock of the account, and they could overtake each other.
 */
import { unavailable } from "./failures.ts";

export type RunInTurn = <T>(accountId: string, deadlineMs: number, work: () => Promise<T>) => Promise<T>;

export function createAccountQueues(): RunInTurn {
  const lastOf = new Map<string, Promise<void>>();

  /** Rejects with `unavailable` if its turn has not come after `deadlineMs`. */
  return async (accountId, deadlineMs, work) => {
    const before = lastOf.get(accountId);
    const own = Promise.withResolvers<void>();
    const last = before === undefined ? own.promise : before.then(() => own.promise);
    lastOf.set(accountId, last);
    try {
      if (before !== undefined) await waitFor(before, deadlineMs);
      return await work();
    } finally {
      own.resolve();
      if (lastOf.get(accountId) === last) void last.then(() => forget(accountId, last));
    }
  };

  function forget(accountId: string, last: Promise<void>): void {
    if (lastOf.get(accountId) === last) lastOf.delete(accountId);
  }
}

async function waitFor(turn: Promise<void>, deadlineMs: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(unavailable(new Error(`changes of this account took longer than ${deadlineMs} ms`))),
    deadlineMs,
  );
  try {
    await Promise.race([turn, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
