/** How late timers come: what every stream feels when something holds up the event loop. */
import type { Histogram } from "../lib/histogram.ts";

const intervalMs = 250;

/** Returns the way to stop it. Holds no process open. */
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
