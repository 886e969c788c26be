/** Lets the event loop turn this many times, so that everything ready to run has run. */
export async function turnsOfTheLoop(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}
