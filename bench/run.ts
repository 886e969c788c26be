/** `bun run bench`: everything side by side in one run, printed and written to `bench/RESULTS.md`. `bun run bench NAME` runs one part. */
import { existsSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Report, StreamRow } from "./figures.ts";
import { reportKnowledge } from "./knowledge/report.ts";
import type { Load } from "./load/plan.ts";
import { cpuSeconds, loadCore, startProvider } from "./load/processes.ts";
import { type LoadName, loads, shortLoads } from "./loads.ts";
import { measureKeyCheck } from "./micro/api-key.ts";
import { measureMetadata } from "./micro/metadata.ts";
import { measureMetadataOnPostgres } from "./micro/metadata-postgres.ts";
import { renderReport } from "./report.ts";
import { startPortkey } from "./rivals/portkey.ts";
import {
  asContender,
  type Contender,
  executable,
  startBareRelay,
  startCompaniond,
  startNaiveElysia,
  startNginx,
  startPassThrough,
} from "./rivals/start.ts";
import { measureShared } from "./shared.ts";
import { measureSlowDisk } from "./slow-disk.ts";
import { buildHelloWorld, measureStarts } from "./start-up.ts";
import { measureLeaving, measureMemory, measureStreams, type Provider, type StreamFigures, warmUp } from "./streams.ts";
import { runWrk } from "./wrk.ts";

type Start = (providerPort: number) => Promise<Contender | null>;
const starters: Start[] = [
  startCompaniond,
  (port) => startCompaniond(port, undefined, undefined, "responses"),
  (port) => startPassThrough(port),
  startBareRelay,
  startNginx,
  (port) => startNaiveElysia(port),
  startPortkey,
];

/** `--rounds=2` for a look. */
const streamRounds = Number(process.argv.find((word) => word.startsWith("--rounds="))?.slice(9) ?? 4);

function say(sentence: string): void {
  console.error(sentence);
}

/** Runs `measure` with a provider and a server of its own: nothing of one run warms or burdens the next. */
async function withContender(
  start: Start,
  part: string,
  measure: (contender: Contender, provider: Provider) => Promise<void>,
): Promise<void> {
  const provider = await startProvider();
  try {
    const contender = await start(provider.port);
    if (contender === null) return;
    say(`${part}: ${contender.name}`);
    try {
      await measure(contender, provider);
    } catch (error) {
      say(`left out: ${contender.name}: ${error}`);
    } finally {
      await contender.stop();
    }
  } finally {
    await provider.stop();
  }
}

/** Of interleaved rounds each figure's best counts: noise only ever adds. */
function keepBest(row: StreamRow, name: LoadName, figures: StreamFigures): void {
  const known = row[name];
  const isFirst = name.startsWith("first");
  const score = (each: StreamFigures) => (isFirst ? each.firstTextMs.p99 : each.cpuMicrosPerChunk);
  if (known === undefined || score(figures) < score(known)) row[name] = figures;
}

async function benchStreams(report: Report): Promise<void> {
  for (let round = 1; round <= streamRounds; round++) {
    for (const start of starters) {
      await withContender(start, `streams, round ${round}`, async (contender, provider) => {
        const row = findRow(report, contender.name);
        await warmUp(contender, provider);
        for (const [name, load] of Object.entries(loads) as [LoadName, Load][]) {
          for (let times = shortLoads.has(name) ? 3 : 1; times > 0; times--) {
            const figures = await measureStreams(contender, provider, load);
            say(`  ${name}: ${figures.cpuMicrosPerChunk.toFixed(2)} µs per chunk`);
            keepBest(row, name, figures);
          }
        }
      });
    }
    const provider = await startProvider();
    const direct = asContender(provider);
    await warmUp(direct, provider);
    for (const name of ["first1", "first50", "first500", "paced"] as const) {
      keepBest(findRow(report, direct.name), name, await measureStreams(direct, provider, loads[name]));
    }
    await provider.stop();
  }
}

function findRow(report: Report, name: string): StreamRow {
  let row = report.streams.find((each) => each.name === name);
  if (row === undefined) {
    row = { name };
    report.streams.push(row);
  }
  return row;
}

/** Nothing is set in the environment here: how many streams a server opens by itself is a figure, too. */
const plainStarters: Start[] = [
  startCompaniond,
  (port) => startPassThrough(port, {}),
  startBareRelay,
  startNginx,
  (port) => startNaiveElysia(port, {}),
];

async function benchMemory(report: Report): Promise<void> {
  for (const start of plainStarters) {
    await withContender(start, "memory", async (contender, provider) => {
      const thousand = await measureMemory(contender, provider, 1_000);
      const fiveThousand = await measureMemory(contender, provider, 5_000);
      report.memory.push({ name: contender.name, thousand, fiveThousand });
    });
  }
}

async function benchLeaving(report: Report): Promise<void> {
  for (const start of [startCompaniond, (port: number) => startPassThrough(port)]) {
    await withContender(start, "leaving visitors", async (contender, provider) => {
      await warmUp(contender, provider);
      report.leaving.push({
        name: contender.name,
        ...(await measureLeaving(contender, provider, contender.name === "companiond" ? 10_000 : 2_000)),
      });
    });
  }
}

async function benchDisk(report: Report): Promise<void> {
  if (!existsSync("/usr/bin/strace")) return say("left out: a slow disk, which strace makes");
  say("first text on a slow disk");
  report.disk.push({ ...(await measureSlowDisk()), build: "companiond" });
}

async function benchConfig(report: Report): Promise<void> {
  const provider = await startProvider();
  const contenders: Contender[] = [];
  for (const start of [startCompaniond, startPassThrough, startNginx] as Start[]) {
    const contender = await start(provider.port);
    if (contender) contenders.push(contender);
  }
  for (const contender of contenders) {
    if (contender.configPath !== null) runWrk(contender.port, contender.configPath, 5);
  }
  const rounds = 5;
  for (let round = 0; round < rounds; round++) {
    // Interleaved, so that a noisy minute falls on all of them.
    for (const contender of contenders) {
      if (contender.configPath === null) continue;
      say(`config requests: ${contender.name}`);
      const before = cpuSeconds(contender.pid);
      const figures = runWrk(contender.port, contender.configPath, 3);
      if (figures === null) continue;
      const cpuMicros = ((cpuSeconds(contender.pid) - before) * 1e6) / figures.requests;
      report.config.push({ name: contender.name, ...figures, cpuMicros });
    }
  }
  for (const contender of contenders) await contender.stop();
  await provider.stop();
}

async function benchStart(report: Report): Promise<void> {
  say("start: companiond and hello-world");
  const dataDir = mkdtempSync("/tmp/companiond-start-");
  const hello = await buildHelloWorld();
  const serve = (port: number) => [executable, "serve", "--port", String(port)];
  const environment = { COMPANIOND_DATA_DIR: dataDir, COMPANIOND_LOG: "warn" };
  // A server that is in use: on the first start of all it also makes its database and offers to set up an account.
  const account = ["account", "create", "--email", "bench@example.com", "--password-stdin"];
  Bun.spawnSync([executable, ...account], { env: environment, stdin: Buffer.from("a password of the bench") });
  const starters = [
    { command: serve, path: "/healthz", executable, environment },
    { command: (port: number) => [hello, String(port)], path: "/", executable: hello, environment: {} },
  ];
  const [companiond, helloWorld] = await measureStarts(starters, 21);
  if (companiond === undefined || helloWorld === undefined) return;
  report.start = { companiond, helloWorld, bunMiB: (await Bun.file(process.execPath).stat()).size / 1024 / 1024 };
}

async function benchMicro(report: Report): Promise<void> {
  say("microbenchmarks");
  const limiter = Bun.spawnSync([process.execPath, join(import.meta.dir, "micro/limiter.ts")]);
  report.micro = { keyCheck: await measureKeyCheck(), limiterText: limiter.stdout.toString().trim() };
}

async function benchMetadata(report: Report): Promise<void> {
  say("metadata: building a million companions takes a minute or two");
  report.metadata = await measureMetadata();
}

async function benchShared(report: Report): Promise<void> {
  const rows = await measureShared((name) => say(`turns and config requests: ${name}`));
  say("metadata on PostgreSQL: building a million companions takes some minutes");
  report.shared = { rows, metadata: await measureMetadataOnPostgres() };
}

async function benchKnowledge(report: Report): Promise<void> {
  report.knowledge = await reportKnowledge((what) => say(`knowledge: ${what}`));
}

const parts = {
  streams: benchStreams,
  memory: benchMemory,
  leaving: benchLeaving,
  disk: benchDisk,
  config: benchConfig,
  start: benchStart,
  micro: benchMicro,
  metadata: benchMetadata,
  shared: benchShared,
  knowledge: benchKnowledge,
};

async function main(): Promise<void> {
  // The harness looks on from the load's core, too.
  Bun.spawnSync(["taskset", "-acp", String(loadCore), String(process.pid)]);
  const wanted = process.argv.slice(2).filter((word) => !word.startsWith("--"));
  const report: Report = {
    rounds: streamRounds,
    streams: [],
    memory: [],
    leaving: [],
    disk: [],
    config: [],
    start: null,
    micro: null,
    metadata: null,
    shared: null,
    knowledge: null,
  };
  for (const [name, bench] of Object.entries(parts)) {
    if (wanted.length === 0 || wanted.includes(name)) await bench(report);
  }
  const text = renderReport(report);
  console.log(text);
  // A part alone is for looking at; only a whole run replaces the record.
  if (wanted.length === 0) await Bun.write(join(import.meta.dir, "RESULTS.md"), text);
}

await main();
