/** Prints how much memory the limiter takes for a million addresses; runs as a separate process. */
import { createRateRules } from "../../src/contracts/limiter/rules.ts";
import { createMemoryLimiter } from "../../src/engines/memory/limiter/memory.ts";

const { ip } = createRateRules();
let nowMs = 0;
const limiter = createMemoryLimiter({ clock: { monotonicMs: () => nowMs } });

async function admitAll(differing: number): Promise<void> {
  for (let index = 0; index < 1_000_000; index++) {
    const place = index % differing;
    await limiter.admit(ip, `${10 + (place >>> 16)}.${(place >>> 8) & 255}.${place & 255}.1`);
  }
}

function rssMiB(): number {
  Bun.gc(true);
  return process.memoryUsage.rss() / 2 ** 20;
}

// Temporary strings and compiled code do not count.
for (let round = 0; round < 2; round++) await admitAll(1000);
nowMs += ip.windowMs;
const beforeMiB = rssMiB();
await admitAll(1_000_000);
const { size } = limiter;
const heldMiB = rssMiB() - beforeMiB;
nowMs += ip.windowMs;
await limiter.admit(ip, "192.0.2.1");
console.log(JSON.stringify({ size, heldMiB, keptMiB: rssMiB() - beforeMiB }));
