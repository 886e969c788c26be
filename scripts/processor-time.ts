/**
 * The processor's time of this process and of all that it has started. Linux counts a process to its parent's time once
 * the parent has waited for it: what a killed browser leaves behind would never be counted. So this process becomes the
 * parent of whatever is left without one.
 */
import { dlopen } from "bun:ffi";
import { readFileSync } from "node:fs";

const prSetChildSubreaper = 36;
const wnohang = 1;
/** USER_HZ of Linux, on all architectures. */
const ticksPerSecond = 100;

const libc = openLibc();

/** Null where there is no glibc: what nobody waits for is not counted then. */
function openLibc() {
  try {
    return dlopen("libc.so.6", {
      prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
      waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" },
    }).symbols;
  } catch {
    return null;
  }
}

export function adoptOrphans(): void {
  libc?.prctl(prSetChildSubreaper, 1, 0, 0, 0);
}

/** To be called only while no process runs whose end is still awaited: it would never be heard of. */
export function waitForOrphans(): void {
  while (libc !== null && libc.waitpid(-1, null, wnohang) > 0);
}

/** The same when all steps have ended: what a process has just left behind, as a browser, is counted once it has ended. */
export async function endOrphans(withinMs = 5_000): Promise<void> {
  const noChild = -1;
  for (const until = performance.now() + withinMs; libc !== null && performance.now() < until; await Bun.sleep(50)) {
    waitForOrphans();
    if (libc.waitpid(-1, null, wnohang) === noChild) return;
  }
}

/** Null where the system does not tell. */
export function readProcessorSeconds(): number | null {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    // The name before is in brackets. User and system time, its own and that of those it waited for: fields 14 to 17.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
  } catch {
    return null;
  }
}
