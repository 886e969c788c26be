/** The command that starts this program again, for work that belongs into a process of its own. */

/** The executable, or Bun with the source. */
export function ownCommand(): string[] {
  return Bun.main.startsWith("/$bunfs/") || Bun.main.includes("~BUN")
    ? [process.execPath]
    : [process.execPath, Bun.main];
}
