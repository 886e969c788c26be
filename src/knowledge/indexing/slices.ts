/** Lets the event loop run between slices of long work. */

/** Half of what streams may wait for. */
const sliceMs = 4;

/** Returns a function to call after each small piece of work: it waits for the event loop once a slice is full. */
export function yieldAfter(ms = sliceMs): () => Promise<void> | undefined {
  let beganMs = performance.now();
  return () => {
    if (performance.now() - beganMs < ms) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        beganMs = performance.now();
        resolve();
      });
    });
  };
}
