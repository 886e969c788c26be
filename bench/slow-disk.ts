/**
 * First text on a disk whose syncs take 5 ms, as on the network disks of small VMs: `bun bench/slow-disk.ts [BUILD …]`.
 * Each build serves 50 visitors twice, once with every sync delayed by strace, once with the delay at nothing, so that
 * what strace itself costs is in both. In turns, and the median counts.
 */
import { startProvider } from "./load/processes.ts";
import { loads } from "./loads.ts";
import { fixed, table } from "./markdown.ts";
import { type Contender, executable, startCompaniond } from "./rivals/start.ts";
import { measureStreams, type Provider, warmUp } from "./streams.ts";

const syncMicros = 5_000;
const rounds = 5;

interface Side {
  build: string;
  disk: "quick" | "slow";
  contender: Contender;
  provider: Provider;
  p50: number[];
  p99: number[];
}

async function start(build: string, disk: Side["disk"]): Promise<Side> {
  const provider = await startProvider();
  const delay = disk === "slow" ? syncMicros : 0;
  const strace = ["strace", "-D", "-f", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=fdatasync,fsync"];
  const program = [...strace, "-e", `inject=fdatasync,fsync:delay_enter=${delay}`, build];
  const contender = await startCompaniond(provider.port, program, build);
  await warmUp(contender, provider);
  return { build, disk, contender, provider, p50: [], p99: [] };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

const builds = process.argv.slice(2);
const rows: string[][] = [];
for (const build of builds.length > 0 ? builds : [executable]) {
  const sides = [await start(build, "quick"), await start(build, "slow")];
  for (let round = 0; round < rounds; round++) {
    for (const { contender, provider, p50, p99 } of sides) {
      const { firstTextMs } = await measureStreams(contender, provider, loads.first50);
      p50.push(firstTextMs.p50);
      p99.push(firstTextMs.p99);
    }
  }
  const [quick, slow] = sides.map((side) => ({ p50: median(side.p50), p99: median(side.p99) }));
  if (quick === undefined || slow === undefined) throw new Error("a side is missing");
  const ratios = [slow.p50 / quick.p50, slow.p99 / quick.p99].map((ratio) => `× ${fixed(ratio)}`);
  const figures = [quick.p50, slow.p50, quick.p99, slow.p99].map((ms) => fixed(ms));
  rows.push([build, ...figures, ...ratios]);
  for (const { contender, provider } of sides) {
    await contender.stop();
    await provider.stop();
  }
}
console.log(table(["build", "p50 quick", "p50 slow", "p99 quick", "p99 slow", "p50", "p99"], rows));
process.exit(0);
