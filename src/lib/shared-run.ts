/** Runs a task for many callers: those who call while it runs share the next run. */

/** At any time at most one run is active and one is pending. Rejects with the error of the run. */
export function createSharedRun(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  function start(): Promise<void> {
    const run = task().finally(() => {
      running = null;
    });
    running = run;
    return run;
  }

  return () => {
    if (running === null) return start();
    next ??= running
      .catch(() => {})
      .then(() => {
        next = null;
        return start();
      });
    return next;
  };
}
