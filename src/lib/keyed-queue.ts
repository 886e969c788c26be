/** Runs work with the same key one at a time, in order of arrival, and limits how many may wait. */
import type { StopListener, StopSignal } from "./stop-signal.ts";

/** Lets in the next one for the key; further calls do nothing. */
export type Release = () => void;

export interface KeyedQueue {
  /**
   * Resolves once every earlier entry of `key` has been released, immediately if there is none. Returns null immediately if
   * `maxWaiting` are already waiting. Rejects with the signal's reason if it fires while waiting: the position in the
   * queue is then given up, and there is nothing to release. A signal that fires later has no effect: the holder must
   * still release.
   */
  enter(key: string, signal?: StopSignal): Promise<Release> | null;
  /** Keys that are held or waited for. */
  readonly size: number;
  /** Entries waiting, across all keys. */
  readonly waitingCount: number;
}

export function createKeyedQueue(options: { maxWaiting: number }): KeyedQueue {
  /** The waiters of each key that is held. */
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
