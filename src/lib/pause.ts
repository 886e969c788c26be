/** Lets everything else that waits have its turn, in the middle of long work. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
