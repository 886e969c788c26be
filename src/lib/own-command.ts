/** The command that starts this program again, for work that belongs into a process of its own. */
import { join } from "node:path";

/** The executable, or Bun with the source; also from a test, whose main file is another. */
export function ownCommand(): string[] {
  return Bun.main.startsWith("/$bunfs/") || Bun.main.includes("~BUN")
    ? [process.execPath]
    : [process.execPath, join(import.meta.dir, "../main.ts")];
}
