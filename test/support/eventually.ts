/** Waits for what will become true, by asking again. */

/** Resolves once the condition holds; the test's own time limit ends a wait in vain. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await Bun.sleep(10);
}
