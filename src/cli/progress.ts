/** A progress bar on standard error at a terminal; nothing otherwise, to keep it out of logs. */
import type { CliIo } from "./command.ts";

export interface Progress {
  /** Cheap: draws at most ten times a second. */
  advance(amount: number): void;
  /** Removes the bar, before something else is written. */
  clear(): Promise<void>;
}

const width = 30;
const drawIntervalMs = 100;

export function createProgress(io: Pick<CliIo, "isTerminal" | "writeError">, total: number): Progress {
  let done = 0;
  let drawnMs = Number.NEGATIVE_INFINITY;
  let isShown = false;

  async function clear(): Promise<void> {
    if (!isShown) return;
    isShown = false;
    await io.writeError("\r\x1b[K");
  }

  return {
    advance(amount) {
      done += amount;
      const nowMs = performance.now();
      if (!io.isTerminal || nowMs - drawnMs < drawIntervalMs) return;
      drawnMs = nowMs;
      isShown = true;
      const share = total === 0 ? 1 : Math.min(1, done / total);
      const filled = Math.round(share * width);
      const bar = "#".repeat(filled) + " ".repeat(width - filled);
      void io.writeError(`\r[${bar}] ${Math.floor(share * 100)} %`);
    },
    clear,
  };
}
