/** Resident memory of another process, in KiB. */
import { readFileSync } from "node:fs";

export function residentKiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN);
}

/** The lowest of several samples: the process collects garbage when it finds the time. */
export async function settledKiB(pid: number): Promise<number> {
  let lowest = residentKiB(pid);
  for (let look = 0; look < 20; look++) {
    await Bun.sleep(100);
    lowest = Math.min(lowest, residentKiB(pid));
  }
  return lowest;
}
