/** Slices long reads, so that streams can continue in between. */

/** Lets everything else that is ready run first. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
