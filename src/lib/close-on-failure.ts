/** Opens things one after another, so that none stays open when a later one fails. */

/** Closes what was opened if a later step fails. */
export async function closeOnFailure<Result>(opened: { close(): Promise<void> }, step: () => Result | Promise<Result>) {
  try {
    return await step();
  } catch (error) {
    await opened.close();
    throw error;
  }
}
