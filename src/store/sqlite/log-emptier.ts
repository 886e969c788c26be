/**
 * Empties the write-ahead log after a deletion: the text is overwritten in the database file, but earlier pages are
 * still in the log.
 */
import type { SqliteEngine } from "./engine.ts";
import { unavailable } from "./failures.ts";
import { defaultLockLimitMs } from "./retry.ts";

const busySleepMs = 10;

export interface LogEmptier {
  /**
   * Resolves once the log contains nothing committed before; rejects with `unavailable` if a reader keeps it in use.
   */
  empty(): Promise<void>;
}

export function createLogEmptier(engine: SqliteEngine): LogEmptier {
  return {
    async empty() {
      const deadlineMs = performance.now() + defaultLockLimitMs;
      while (!(await engine.read(() => engine.truncateLog()))) {
        if (performance.now() > deadlineMs) throw unavailable(new Error("the write-ahead log is in use"));
        await Bun.sleep(busySleepMs);
      }
    },
  };
}
