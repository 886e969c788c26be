/** Chat streams side by side: CPU per chunk, chunks a second, time to first text, latency, memory per open stream, leaving visitors. */
import type { ClientResult } from "./load/client.ts";
import type { Load } from "./load/plan.ts";
import { busySeconds, cpuSeconds, holdClient, residentKiB, runClient, type startProvider } from "./load/processes.ts";
import { leaving, warmUps } from "./loads.ts";
import type { Contender } from "./rivals/start.ts";

export type Provider = Awaited<ReturnType<typeof startProvider>>;

export interface StreamFigures extends ClientResult {
  /** CPU microseconds of the server for each chunk that reached a visitor. */
  cpuMicrosPerChunk: number;
  /** CPU share of one core while the run lasted. */
  cpuShare: number;
  /** What processes that have no part in the run took of the server's core. */
  othersShare: number;
}

export function toJob(contender: Contender, provider: Provider, load: Load) {
  const { port, chatPath: path, headers } = contender;
  const body = contender.bodyFor(load.plan);
  return {
    thinkMs: 0,
    leaveWithinMs: 0,
    isLeavingTogether: false,
    ...load,
    port,
    providerPort: provider.port,
    path,
    headers,
    body,
  };
}

export async function measureStreams(contender: Contender, provider: Provider, load: Load): Promise<StreamFigures> {
  const before = cpuSeconds(contender.pid);
  const busyBefore = busySeconds();
  const startedMs = performance.now();
  const result = await runClient(toJob(contender, provider, load));
  const cpu = cpuSeconds(contender.pid) - before;
  const others = busySeconds() - busyBefore - cpu;
  const othersShare = Math.max(0, (others * 1000) / (performance.now() - startedMs));
  if (result.failed > 0) throw new Error(`${contender.name}: ${result.failed} of ${load.requests} streams failed`);
  return { ...result, cpuMicrosPerChunk: (cpu * 1e6) / result.chunks, cpuShare: cpu / result.seconds, othersShare };
}

export async function warmUp(contender: Contender, provider: Provider): Promise<void> {
  for (const load of warmUps) await measureStreams(contender, provider, load);
}

export interface MemoryFigures {
  idleKiB: number;
  openKiB: number;
  perStreamKiB: number;
  /** Ten seconds after all have left at once. */
  afterKiB: number;
  /** Provider streams open at the peak: fewer than the visitors means that some waited. */
  providerPeak: number;
  providerAfter: number;
}

/** Holds `streams` quiet streams open (a chunk every five seconds) and reads the resident memory. */
export async function measureMemory(contender: Contender, provider: Provider, streams: number): Promise<MemoryFigures> {
  const idleKiB = residentKiB(contender.pid);
  const plan = { chunks: 100, perWrite: 1, gapMs: 5_000, isLockStep: false };
  let openKiB = 0;
  const job = toJob(contender, provider, { plan, visitors: streams, requests: streams, rampMs: 1 });
  await holdClient(job, async () => {
    await Bun.sleep(streams + 7_000);
    openKiB = residentKiB(contender.pid);
  });
  const afterKiB = await settledKiB(contender);
  const counters = await provider.ask();
  return {
    idleKiB,
    openKiB,
    perStreamKiB: (openKiB - idleKiB) / streams,
    afterKiB,
    providerPeak: counters.peakActive,
    providerAfter: counters.active,
  };
}

/** Milliseconds from a visitor's leaving to the closing of the provider's connection, measured `count` times. */
export interface ClosingFigures {
  count: number;
  p50: number;
  p99: number;
  max: number;
  /** How many took no longer than 50 ms. */
  inTime: number;
}

export interface LeavingFigures {
  oneByOne: ClosingFigures;
  together: ClosingFigures;
  /** Provider streams open after all have left. */
  providerAfter: number;
  /** Resident memory, ten seconds after the last has left, after the first tenth, and after as many as were asked for once, one and a half times and twice more. */
  youngKiB: number;
  beforeKiB: number;
  midwayKiB: number;
  afterKiB: number;
}

export const closedInTimeMs = 50;

async function measureClosing(contender: Contender, provider: Provider, load: Load): Promise<ClosingFigures> {
  // The numbers of replies begin anew with each run: one of an earlier run is told by its time.
  const { abandonedAt: earlier } = await provider.ask();
  const { leftAt } = await runClient(toJob(contender, provider, load));
  await Bun.sleep(3_000);
  const { abandonedAt } = await provider.ask();
  const times: number[] = [];
  for (const [id, micros] of Object.entries(leftAt)) {
    const closed = abandonedAt[id];
    // A visitor who left before the provider was asked has no reply there to close.
    if (closed !== undefined && closed !== earlier[id]) times.push((closed - micros) / 1000);
  }
  times.sort((a, b) => a - b);
  const quantile = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  const inTime = times.filter((ms) => ms <= closedInTimeMs).length;
  return { count: times.length, p50: quantile(0.5), p99: quantile(0.99), max: quantile(1), inTime };
}

/** As long as it takes a server that collects its garbage when a busy time is over. */
const settledMs = 10_000;

async function settledKiB(contender: Contender): Promise<number> {
  await Bun.sleep(settledMs);
  return residentKiB(contender.pid);
}

export async function measureLeaving(
  contender: Contender,
  provider: Provider,
  visitors: number,
): Promise<LeavingFigures> {
  await measureClosing(contender, provider, { ...leaving.oneByOne, requests: visitors / 10 });
  const youngKiB = await settledKiB(contender);
  await measureClosing(contender, provider, { ...leaving.oneByOne, requests: visitors });
  const beforeKiB = await settledKiB(contender);
  const half = { ...leaving.oneByOne, requests: visitors / 2 };
  await measureClosing(contender, provider, half);
  const midwayKiB = await settledKiB(contender);
  const oneByOne = await measureClosing(contender, provider, half);
  const afterKiB = await settledKiB(contender);
  const together = await measureClosing(contender, provider, leaving.together);
  const { active } = await provider.ask();
  return { oneByOne, together, providerAfter: active, youngKiB, beforeKiB, midwayKiB, afterKiB };
}
