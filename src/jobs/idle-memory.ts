/**
 * Gives memory back when a busy time is over. Left to itself the collector waits for new work before it looks at what the
 * old has left, and a server whose visitors have gone would go on holding twice what it needs.
 */
import type { Jobs } from "./jobs.ts";

export interface ProcessGauges {
  /** Monotonic. */
  nowMs(): number;
  /** CPU time that the process has spent since its start, in milliseconds. */
  cpuMs(): number;
  residentBytes(): number;
  /** Collects all garbage at once; everything else stands still meanwhile, for some 10 to 50 ms. */
  collect(): Promise<void>;
}

/** Less of a core than this is quiet: there are few whom the collection keeps waiting. */
const quietShare = 0.02;
const quietLooks = 2;
/** Less than this is not worth the wait. */
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
    // Unlike `Bun.gc(true)`, which also throws compiled code away.
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

/** What to do at each look. */
export function watchIdleMemory(gauges: ProcessGauges): () => void {
  let seen = { ms: gauges.nowMs(), cpuMs: gauges.cpuMs() };
  let quiet = 0;
  /** The least that was held at the start, or in a quiet moment: what a collection leaves is given back only by and by. */
  let leastBytes = gauges.residentBytes();

  return () => {
    const now = { ms: gauges.nowMs(), cpuMs: gauges.cpuMs() };
    const isQuiet = now.cpuMs - seen.cpuMs < (now.ms - seen.ms) * quietShare;
    seen = now;
    quiet = isQuiet ? quiet + 1 : 0;
    if (quiet < quietLooks) return;
    const residentBytes = gauges.residentBytes();
    leastBytes = Math.min(leastBytes, residentBytes);
    if (residentBytes - leastBytes < worthwhileBytes) return;
    void gauges.collect();
    leastBytes = residentBytes;
  };
}
