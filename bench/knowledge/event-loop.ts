/** How long work holds the event loop, and the processor time that it takes by itself, whatever else the machine does. */
import { dlopen, FFIType, ptr } from "bun:ffi";

const time = new BigInt64Array(2);
const timeAt = ptr(time);
/** `process.threadCpuUsage` counts in steps of four milliseconds. */
const { symbols } = dlopen("libc.so.6", { clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 } });
const clockOfThread = 3;

/** Of this thread: on a shared machine it says more than the clock. */
export function threadCpuMs(): number {
  symbols.clock_gettime(clockOfThread, timeAt);
  return Number(time[0]) * 1000 + Number(time[1]) / 1e6;
}

export interface Hold {
  /** By the clock: what a stream would have waited, also for other processes. */
  readonly wallMs: number;
  /** What this thread worked in one go. */
  readonly cpuMs: number;
  /** How often it worked for more than ten milliseconds in one go. */
  readonly long: number;
}

const longMs = 10;

/** Looks on at each turn of the loop, as fast as they come, while the work lasts. */
export async function measureHold(work: () => Promise<unknown>): Promise<Hold> {
  let [wallMs, cpuMs, long] = [0, 0, 0];
  let isWatching = true;
  let last = { wallMs: performance.now(), cpuMs: threadCpuMs() };
  function look(): void {
    const now = { wallMs: performance.now(), cpuMs: threadCpuMs() };
    wallMs = Math.max(wallMs, now.wallMs - last.wallMs);
    cpuMs = Math.max(cpuMs, now.cpuMs - last.cpuMs);
    if (now.cpuMs - last.cpuMs > longMs) long++;
    last = now;
    if (isWatching) setImmediate(look);
  }
  setImmediate(look);
  try {
    await work();
    // What the last step of the work has held up.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    isWatching = false;
  }
  return { wallMs, cpuMs, long };
}
