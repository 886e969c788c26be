/** Waits until something is true; a timeout rejects with a sentence that names what did not happen. */

export interface Patience {
  /** What is waited for; by default the source of the condition. */
  what?: string;
  /** Below the time limit of a test, so that this message is shown. */
  withinMs?: number | undefined;
  /** 0 checks on each turn of the event loop. */
  everyMs?: number;
}

/** Ends only what hangs: a busy machine may take many seconds for what usually takes none. */
export const patienceMs = 45_000;

/** Polls the condition until it holds; rejects after the timeout. */
export async function eventually(condition: () => boolean | Promise<boolean>, patience: Patience = {}): Promise<void> {
  const { what = String(condition), withinMs = patienceMs, everyMs = 10 } = patience;
  const untilMs = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > untilMs) throw waitedInVain(what, withinMs);
    await (everyMs === 0 ? new Promise((resolve) => setImmediate(resolve)) : Bun.sleep(everyMs));
  }
}

/** The same for a promise: rejects if it takes longer. */
export async function inTime<Value>(promise: Promise<Value>, patience: Patience & { what: string }): Promise<Value> {
  const { what, withinMs = patienceMs } = patience;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(waitedInVain(what, withinMs)), withinMs);
  return await Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}

function waitedInVain(what: string, withinMs: number): Error {
  return new Error(`Waited ${withinMs / 1000} s in vain for: ${what}`);
}
