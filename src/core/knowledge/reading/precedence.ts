/** Puts this process behind all others: where processor time or memory is short, a document waits or is lost, no reply. */
import { readdirSync, writeFileSync } from "node:fs";

/** Of -20 to 19. */
const niceness = 10;
/** The kernel ends it first. */
const oomScore = "1000";

/** As far as the system lets it; on Linux anybody may do both to himself. */
export function letOthersGoFirst(): void {
  if (process.platform !== "linux") return;
  attempt(() => writeFileSync("/proc/self/oom_score_adj", oomScore));
  const { setPriority } = process.getBuiltinModule("node:os");
  // Each thread has a niceness of its own; those to come take over that of the one which starts them. Twice, since one may
  // have been started meanwhile by another that had not been set yet.
  for (let round = 0; round < 2; round++) {
    attempt(() => {
      for (const thread of readdirSync("/proc/self/task")) attempt(() => setPriority(Number(thread), niceness));
    });
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // A sandbox refuses it, or a thread has ended: documents are read all the same.
  }
}
