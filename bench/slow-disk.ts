/**
 * First text on a disk whose syncs take 5 ms, as on the network disks of small VMs, beside the same on a quick one. Alone, for
 * several builds: `bun bench/slow-disk.ts BUILD …`. Both servers run under strace, one with every sync delayed, the other with a
 * delay of nothing, so that what strace itself costs is in both. In turns, and the median counts.
 */
import { startProvider } from "./load/processes.ts";
import { loads } from "./loads.ts";
import { fixed, table } from "./markdown.ts";
import { type Contender, executable, startCompaniond } from "./rivals/start.ts";
import { measureStreams, type Provider, warmUp } from "./streams.ts";

const syncMicros = 5_000;
const rounds = 5;
const strace = "/usr/bin/strace";

export interface DiskFigures {
  build: string;
  /** Milliseconds to the first text at 50 visitors. */
  quick: { p50: number; p99: number };
  slow: { p50: number; p99: number };
}

interface Side {
  contender: Contender;
  provider: Provider;
  p50: number[];
  p99: number[];
}

async function start(build: string, delayMicros: number): Promise<Side> {
  const provider = await startProvider();
  const traced = [strace, "-D", "-f", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=fdatasync,fsync"];
  const program = [...traced, "-e", `inject=fdatasync,fsync:delay_enter=${delayMicros}`, build];
  const contender = await startCompaniond(provider.port, program, build);
  await warmUp(contender, provider);
  return { contender, provider, p50: [], p99: [] };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

export async function measureSlowDisk(build = executable): Promise<DiskFigures> {
  const sides = { quick: await start(build, 0), slow: await start(build, syncMicros) };
  for (let round = 0; round < rounds; round++) {
    for (const { contender, provider, p50, p99 } of Object.values(sides)) {
      const { firstTextMs } = await measureStreams(contender, provider, loads.first50);
      p50.push(firstTextMs.p50);
      p99.push(firstTextMs.p99);
    }
  }
  for (const { contender, provider } of Object.values(sides)) {
    await contender.stop();
    await provider.stop();
  }
  const figuresOf = ({ p50, p99 }: Side) => ({ p50: median(p50), p99: median(p99) });
  return { build, quick: figuresOf(sides.quick), slow: figuresOf(sides.slow) };
}

export function renderSlowDisk(figures: readonly DiskFigures[]): string {
  if (figures.length === 0) return "";
  const head = ["build", "quick: p50, ms", "p99", "slow: p50, ms", "p99", "p50", "p99"];
  const rows = figures.map(({ build, quick, slow }) => {
    const times = [quick.p50, quick.p99, slow.p50, slow.p99].map((ms) => fixed(ms));
    return [build, ...times, `× ${fixed(slow.p50 / quick.p50)}`, `× ${fixed(slow.p99 / quick.p99)}`];
  });
  return `## First text on a disk whose syncs take 5 ms, 50 visitors\n\n${table(head, rows)}`;
}

if (import.meta.main) {
  const figures: DiskFigures[] = [];
  for (const build of process.argv.slice(2)) figures.push(await measureSlowDisk(build));
  console.log(renderSlowDisk(figures));
  process.exit(0);
}
