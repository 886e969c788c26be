/** Prints what a verdict of the memory limiter costs, and what a million addresses with full windows take. */
import { createRateRules } from "../../src/contracts/limiter/rules.ts";
import { createMemoryLimiter } from "../../src/engines/memory/limiter/memory.ts";
import { clientIp } from "../../src/http/client-ip.ts";
import { admitClient } from "../../src/http/rate-limit.ts";
import { systemClock } from "../../src/lib/clock.ts";

const million = 1_000_000;
const rules = createRateRules();

/** As on requests: half IPv4, half IPv6, scattered. */
function subjectOf(index: number): string {
  const scattered = Math.imul(index, 0x9e3779b1) >>> 0;
  const high = scattered >>> 16;
  const low = scattered & 0xffff;
  if (index % 2 === 0) return `${high >>> 8}.${high & 0xff}.${low >>> 8}.${low & 0xff}`;
  return `2001:db8:${high.toString(16)}:${low.toString(16)}::/64`;
}

function rssMiB(): number {
  Bun.gc(true);
  return process.memoryUsage.rss() / 1024 / 1024;
}

function report(name: string, nsPerCall: number): void {
  console.log(`${name.padEnd(58)} ${nsPerCall.toFixed(0).padStart(6)} ns`);
}

/** Calls per second differ with who else is on the machine: the best of a few rounds counts. */
async function time(name: string, calls: number, call: (index: number) => unknown): Promise<void> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) {
    const startedMs = performance.now();
    for (let index = 0; index < calls; index++) await call(index);
    best = Math.min(best, performance.now() - startedMs);
  }
  report(name, (best / calls) * 1e6);
}

async function verdicts(name: string, subjects: readonly string[], rule = rules.ip): Promise<void> {
  const limiter = createMemoryLimiter({ clock: systemClock });
  await time(name, million, (index) => limiter.admit(rule, subjects[index % subjects.length] ?? ""));
  limiter.close();
}

async function networkVerdicts(): Promise<void> {
  const limiter = createMemoryLimiter({ clock: systemClock });
  const clients = Array.from({ length: 100_000 }, (_, index) => {
    return clientIp(`2001:db8:${(index >>> 8).toString(16)}:${(index & 0xff).toString(16)}00::1`, null, 0);
  });
  await time("verdict, IPv6 clients in their /56 and /48", million, (index) => {
    const client = clients[index % clients.length];
    return client && admitClient(limiter, rules.ip, client);
  });
  limiter.close();
}

async function memory(): Promise<void> {
  let nowMs = 0;
  const limiter = createMemoryLimiter({ clock: { monotonicMs: () => nowMs } });
  // Strings are made on the way, as requests do: what they cost the heap belongs to no address.
  for (let index = 0; index < 10 * million; index++) await limiter.admit(rules.ip, subjectOf(index % 1000));
  nowMs += rules.ip.windowMs;
  const beforeMiB = rssMiB();
  for (let round = 0; round < rules.ip.limit; round++) {
    nowMs += 100;
    for (let index = 0; index < million; index++) await limiter.admit(rules.ip, subjectOf(index));
  }
  const heldMiB = rssMiB() - beforeMiB;
  console.log(
    `${limiter.size} addresses with full windows take ${heldMiB.toFixed(1)} MiB (evicted: ${limiter.evictedCount})`,
  );
  let slowestMs = 0;
  nowMs += 30_000;
  for (let index = 0; index < million; index++) {
    if (index === million / 2) nowMs += rules.ip.windowMs - 1000;
    const startedMs = performance.now();
    await limiter.admit(rules.ip, subjectOf(million + index));
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
  }
  console.log(`slowest verdict while a million leave: ${slowestMs.toFixed(2)} ms (evicted: ${limiter.evictedCount})`);
  nowMs += rules.ip.windowMs * 2;
  await limiter.admit(rules.ip, "192.0.2.1");
  console.log(`given back after a quiet minute: all but ${(rssMiB() - beforeMiB).toFixed(1)} MiB`);
}

await memory();
await verdicts("verdict, one address", [subjectOf(0)]);
await verdicts(
  "verdict, 100 000 addresses",
  Array.from({ length: 100_000 }, (_, index) => subjectOf(index)),
);
await verdicts(
  "verdict, 1 000 000 addresses",
  Array.from({ length: million }, (_, index) => subjectOf(index)),
);
await verdicts(
  "verdict, 10 000 embed tokens",
  Array.from({ length: 10_000 }, (_, index) => `emb_${String(index).padStart(32, "0")}`),
  rules.token.free,
);
await networkVerdicts();
await time("client address, IPv4 socket", million, () => void clientIp("203.0.113.7", null, 0));
await time(
  "client address, IPv6 behind one proxy",
  million,
  () => void clientIp("10.0.0.1", "1.2.3.4, 2001:db8:1:2::3", 1),
);
