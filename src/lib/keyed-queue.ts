/** Runs what has the same key one after the other, in the order of arrival, and lets only a few wait. */
import type { StopListener, StopSignal } from "./stop-signal.ts";

/** Lets the next one of the key in; further calls do nothing. */
export type Release = () => void;

export interface KeyedQueue {
  /**
   * Resolves once everything of `key` that entered before has been released, at once where nothing has. Null, without
   * waiting, where `maxWaiting` are waiting already. Rejects with the signal's reason if it fires before the turn has
   * come: the place in the queue is then given up, and there is nothing to release. A signal that fires later changes
   * nothing: whoever was let in must release.
   */
  enter(key: string, signal?: StopSignal): Promise<Release> | null;
  /** Keys that have somebody in or waiting. */
  readonly size: number;
  /** Who waits, over all keys. */
  readonly waitingCount: number;
}

export function createKeyedQueue(options: { maxWaiting: number }): KeyedQueue {
  /** Who waits for each key that somebody is in. */
  const waitingByKey = new Map<string, Waiter[]>();

  function letNextIn(key: string, waiting: Waiter[]): void {
    const next = waiting.shift();
    if (next) next.letIn();
    else waitingByKey.delete(key);
  }

  function makeRelease(key: string, waiting: Waiter[]): Release {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      letNextIn(key, waiting);
    };
  }

  function wait(key: string, waiting: Waiter[], signal: StopSignal | undefined): Promise<Release> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        letIn() {
          signal?.removeEventListener("abort", waiter);
          resolve(makeRelease(key, waiting));
        },
        /** The signal has fired. */
        handleEvent() {
          waiting.splice(waiting.indexOf(waiter), 1);
          reject(signal?.reason);
        },
      };
      signal?.addEventListener("abort", waiter);
      waiting.push(waiter);
    });
  }

  return {
    enter(key, signal) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      const waiting = waitingByKey.get(key);
      if (waiting === undefined) {
        const fresh: Waiter[] = [];
        waitingByKey.set(key, fresh);
        return Promise.resolve(makeRelease(key, fresh));
      }
      if (waiting.length >= options.maxWaiting) return null;
      return wait(key, waiting, signal);
    },
    get size() {
      return waitingByKey.size;
    },
    get waitingCount() {
      let count = 0;
      for (const waiting of waitingByKey.values()) count += waiting.length;
      return count;
    },
  };
}

interface Waiter extends StopListener {
  letIn(): void;
}
