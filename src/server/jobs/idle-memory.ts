/**
 * Returns memory after a busy period. On its own, the garbage collector waits for new allocations before it collects
 * old garbage, and a server without visitors would keep holding twice what it needs.
 */
import type { Jobs } from "./jobs.ts";

export interface ProcessGauges {
  /** Monotonic time in milliseconds. */
  nowMs(): number;
  /** CPU time of the process since it started, in milliseconds. */
  cpuMs(): number;
  residentBytes(): number;
  /** Runs a full garbage collection, which blocks the process for some 10 to 50 ms. */
  collect(): Promise<void>;
}

/** Below this share of one core the server is quiet, so the collection delays few requests. */
const quietShare = 0.02;
const quietChecks = 2;
/** Freeing less than this is not worth the pause. */
const worthwhileBytes = 8 * 1024 * 1024;

export const systemGauges: ProcessGauges = {
  nowMs: () => performance.now(),
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  residentBytes: () => process.memoryUsage.rss(),
  async collect() {
    const { fullGC } = await import("bun:jsc");
    // Unlike `Bun.gc(true)`, this keeps compiled code.
    fullGC();
  },
};

export function startIdleMemory(gauges = systemGauges, intervalMs = 1_000): Jobs {
  const timer = setInterval(watchIdleMemory(gauges), intervalMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
    },
  };
}

/** Returns the check to run at each interval. */
export function watchIdleMemory(gauges: ProcessGauges): () => void {
  let seen = { ms: gauges.nowMs(), cpuMs: gauges.cpuMs() };
  let quiet = 0;
  /**
   * The lowest value seen at the start or in a quiet moment: collected memory goes back to the system only gradually.
   */
  let leastBytes = gauges.residentBytes();

  return () => {
    const now = { ms: gauges.nowMs(), cpuMs: gauges.cpuMs() };
    const isQuiet = now.cpuMs - seen.cpuMs < (now.ms - seen.ms) * quietShare;
    seen = now;
    quiet = isQuiet ? quiet + 1 : 0;
    if (quiet < quietChecks) return;
    const residentBytes = gauges.residentBytes();
    leastBytes = Math.min(leastBytes, residentBytes);
    if (residentBytes - leastBytes < worthwhileBytes) return;
    void gauges.collect();
    leastBytes = residentBytes;
  };
}
