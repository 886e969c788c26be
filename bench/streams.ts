/** Chat streams side by side: CPU per chunk, chunks a second, time to first text, latency, memory per open stream. */
import type { ClientResult } from "./load/client.ts";
import type { StreamPlan } from "./load/plan.ts";
import { cpuSeconds, residentKiB, runClient, type startProvider } from "./load/processes.ts";
import type { Contender } from "./rivals/start.ts";

type Provider = Awaited<ReturnType<typeof startProvider>>;

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
}

export async function measureStreams(contender: Contender, load: Load): Promise<StreamFigures> {
  const before = cpuSeconds(contender.pid);
  const result = await runClient({
    port: contender.port,
    path: contender.chatPath,
    headers: contender.headers,
    body: contender.bodyFor(load.plan),
    visitors: load.visitors,
    requests: load.requests,
    rampMs: load.rampMs,
  });
  const cpu = cpuSeconds(contender.pid) - before;
  if (result.failed > 0) throw new Error(`${contender.name}: ${result.failed} of ${load.requests} streams failed`);
  return { ...result, cpuMicrosPerChunk: (cpu * 1e6) / result.chunks, cpuShare: cpu / result.seconds };
}

export interface MemoryFigures {
  idleKiB: number;
  openKiB: number;
  perStreamKiB: number;
  /** Some seconds after the last stream ended. */
  afterKiB: number;
  /** Provider streams open at the peak: fewer than the visitors means that some waited. */
  providerPeak: number;
  providerAfter: number;
}

/** Holds `streams` quiet streams open (a chunk every five seconds) and reads the resident memory. */
export async function measureMemory(contender: Contender, provider: Provider, streams: number): Promise<MemoryFigures> {
  const idleKiB = residentKiB(contender.pid);
  const plan = { chunks: 4, perWrite: 1, gapMs: 5_000 };
  let openKiB = 0;
  await runClient(
    {
      port: contender.port,
      path: contender.chatPath,
      headers: contender.headers,
      body: contender.bodyFor(plan),
      visitors: streams,
      requests: streams,
      rampMs: 1,
    },
    async () => {
      await Bun.sleep(streams + 7_000);
      openKiB = residentKiB(contender.pid);
    },
  );
  await Bun.sleep(3_000);
  const counters = await provider.ask();
  return {
    idleKiB,
    openKiB,
    perStreamKiB: (openKiB - idleKiB) / streams,
    afterKiB: residentKiB(contender.pid),
    providerPeak: counters["peakActive"] ?? 0,
    providerAfter: counters["active"] ?? 0,
  };
}
