/** Long reads are cut into slices, so that streams run on in between. */

/** Lets everything else that is ready run first. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
