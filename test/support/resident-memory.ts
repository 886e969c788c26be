/** Resident memory of another process, in KiB. */
import { readFileSync, writeFileSync } from "node:fs";

export function residentKiB(pid: number): number {
  return readKiB(pid, "VmRSS");
}

/** The most that there was at any moment since `forgetPeak`: as the kernel counts it, and no sampling does. */
export function peakKiB(pid: number): number {
  return readKiB(pid, "VmHWM");
}

export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

function readKiB(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? Number.NaN);
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
