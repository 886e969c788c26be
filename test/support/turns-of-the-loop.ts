/** Lets the event loop go round so often: what is ready to happen has happened then. */
export async function turnsOfTheLoop(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}
