/** Chat streams side by side: CPU per chunk, chunks a second, time to first text, latency, memory per open stream, leaving visitors. */
import type { ClientResult } from "./load/client.ts";
import type { StreamPlan } from "./load/plan.ts";
import { cpuSeconds, holdClient, residentKiB, runClient, type startProvider } from "./load/processes.ts";
import type { Contender } from "./rivals/start.ts";

export type Provider = Awaited<ReturnType<typeof startProvider>>;

export interface StreamFigures extends ClientResult {
  /** CPU microseconds of the server for each chunk that reached a visitor. */
  cpuMicrosPerChunk: number;
  /** CPU share of one core while the run lasted. */
  cpuShare: number;
}

export interface Load {
  plan: StreamPlan;
  visitors: number;
  requests: number;
  rampMs: number;
  leaveWithinMs?: number;
}

function toJob(contender: Contender, provider: Provider, load: Load) {
  const { port, chatPath: path, headers } = contender;
  const body = contender.bodyFor(load.plan);
  return { leaveWithinMs: 0, ...load, port, providerPort: provider.port, path, headers, body };
}

export async function measureStreams(contender: Contender, provider: Provider, load: Load): Promise<StreamFigures> {
  const before = cpuSeconds(contender.pid);
  const result = await runClient(toJob(contender, provider, load));
  const cpu = cpuSeconds(contender.pid) - before;
  if (result.failed > 0) throw new Error(`${contender.name}: ${result.failed} of ${load.requests} streams failed`);
  return { ...result, cpuMicrosPerChunk: (cpu * 1e6) / result.chunks, cpuShare: cpu / result.seconds };
}

export interface MemoryFigures {
  idleKiB: number;
  openKiB: number;
  perStreamKiB: number;
  /** Some seconds after all have left at once. */
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
  await Bun.sleep(5_000);
  const counters = await provider.ask();
  return {
    idleKiB,
    openKiB,
    perStreamKiB: (openKiB - idleKiB) / streams,
    afterKiB: residentKiB(contender.pid),
    providerPeak: counters.peakActive,
    providerAfter: counters.active,
  };
}

export interface LeavingFigures {
  left: number;
  /** Milliseconds from a visitor's leaving to the closing of the provider's connection. */
  closedMs: { p50: number; p99: number; max: number };
  /** Provider streams open after all have left. */
  providerAfter: number;
  /** Resident memory after a first tenth, and after all. */
  beforeKiB: number;
  afterKiB: number;
}

/** Visitors leave at random moments of their replies: early, midway, two hundred at a time. */
export async function measureLeaving(
  contender: Contender,
  provider: Provider,
  visitors: number,
): Promise<LeavingFigures> {
  const plan = { chunks: 1_000, perWrite: 1, gapMs: 20, isLockStep: false };
  const load = { plan, visitors: 200, rampMs: 5, leaveWithinMs: 1_500 };
  await runClient(toJob(contender, provider, { ...load, requests: visitors / 10 }));
  await Bun.sleep(5_000);
  const beforeKiB = residentKiB(contender.pid);
  const earlier = await provider.ask();
  // The provider's numbers begin anew with each client: what it knows of the first tenth is told apart by time.
  const { leftAt } = await runClient(toJob(contender, provider, { ...load, requests: visitors }));
  await Bun.sleep(5_000);
  const counters = await provider.ask();
  const times: number[] = [];
  for (const [id, micros] of Object.entries(leftAt)) {
    const closed = counters.abandonedAt[id];
    // A visitor who left before the provider was asked has no reply there to close.
    if (closed !== undefined && closed !== earlier.abandonedAt[id]) times.push((closed - micros) / 1000);
  }
  times.sort((a, b) => a - b);
  const quantile = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  return {
    left: times.length,
    closedMs: { p50: quantile(0.5), p99: quantile(0.99), max: quantile(1) },
    providerAfter: counters.active,
    beforeKiB,
    afterKiB: residentKiB(contender.pid),
  };
}
