/** Resident memory of another process, in KiB. */
import { readFileSync } from "node:fs";

export function residentKiB(pid: number): number {
  return readKiB(pid, "VmRSS");
}

/** The most since the process started. */
function highWaterKiB(pid: number): number {
  return readKiB(pid, "VmHWM");
}

function readKiB(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? Number.NaN);
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

/**
 * Looks every 50 ms; `stop` says how many KiB more than at first it was at the peak. The kernel's own mark tells what fell
 * between two looks, or came before.
 */
export function watchMemory(pid: number): { stop(): number } {
  const restKiB = residentKiB(pid);
  let peakKiB = restKiB;
  const look = () => {
    peakKiB = Math.max(peakKiB, residentKiB(pid));
  };
  const timer = setInterval(look, 50);
  return {
    stop() {
      clearInterval(timer);
      return Math.max(peakKiB, highWaterKiB(pid)) - restKiB;
    },
  };
}
