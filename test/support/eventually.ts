/** Waits until something is true; a wait in vain ends with a sentence that says what never came. */

export interface Patience {
  /** What is waited for; the condition's own source where nothing is said. */
  what?: string;
  /** Below the limit of a test, so that it says why it failed. */
  withinMs?: number | undefined;
  /** 0 asks at each turn of the event loop. */
  everyMs?: number;
}

export const patienceMs = 25_000;

/** Asks again and again, and resolves once the condition holds; rejects when the time is up. */
export async function eventually(condition: () => boolean | Promise<boolean>, patience: Patience = {}): Promise<void> {
  const { what = String(condition), withinMs = patienceMs, everyMs = 10 } = patience;
  const untilMs = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > untilMs) throw waitedInVain(what, withinMs);
    await (everyMs === 0 ? new Promise((resolve) => setImmediate(resolve)) : Bun.sleep(everyMs));
  }
}

/** The same for what tells by itself: rejects where the promise takes longer. */
export async function inTime<Value>(promise: Promise<Value>, patience: Patience & { what: string }): Promise<Value> {
  const { what, withinMs = patienceMs } = patience;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(waitedInVain(what, withinMs)), withinMs);
  return await Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}

function waitedInVain(what: string, withinMs: number): Error {
  return new Error(`Waited ${withinMs / 1000} s in vain for: ${what}`);
}
