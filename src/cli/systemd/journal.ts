/** Whether a stream of this process goes to systemd's journal, which takes a line's priority from its beginning. */
import { fstatSync } from "node:fs";

/** `stream` is `JOURNAL_STREAM`; children of a service inherit it, with any output. */
export function isJournal(descriptor: 1 | 2, stream: string | null): boolean {
  if (stream === null) return false;
  try {
    const { dev, ino } = fstatSync(descriptor, { bigint: true });
    return stream === `${dev}:${ino}`;
  } catch {
    return false;
  }
}
