/** Measures how late timers fire, which delays every stream when something blocks the event loop. */
import type { Histogram } from "../../lib/histogram.ts";

const intervalMs = 250;

/** Returns a function that stops it. Does not keep the process alive. */
export function watchEventLoop(lagSeconds: Histogram): () => void {
  let expectedMs = performance.now() + intervalMs;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    lagSeconds.observe(Math.max(0, nowMs - expectedMs) / 1000);
    expectedMs = nowMs + intervalMs;
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
