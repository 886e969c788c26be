/** `bun run bench`: everything side by side in one run, printed and written to `bench/RESULTS.md`. `bun run bench NAME` runs one part. */
import { join } from "node:path";
import { startProvider } from "./load/processes.ts";
import { measureKeyCheck } from "./micro/api-key.ts";
import { measureMetadata } from "./micro/metadata.ts";
import { type Report, renderReport } from "./report.ts";
import { startPortkey } from "./rivals/portkey.ts";
import { type Contender, startCompaniond, startNaiveElysia, startNginx, startPassThrough } from "./rivals/start.ts";
import { buildHelloWorld, measureStart } from "./start-up.ts";
import { type Load, measureMemory, measureStreams } from "./streams.ts";
import { runWrk } from "./wrk.ts";

type Start = (providerPort: number) => Promise<Contender | null>;
const starters: Start[] = [startCompaniond, startPassThrough, startNginx, startNaiveElysia, startPortkey];

const root = join(import.meta.dir, "..");
const executable = join(root, "dist/companiond");

const saturatedOne: Load = { plan: { chunks: 500, perWrite: 1, gapMs: 0 }, visitors: 50, requests: 400, rampMs: 0 };
const saturatedEight: Load = { plan: { chunks: 2000, perWrite: 8, gapMs: 0 }, visitors: 50, requests: 200, rampMs: 0 };
const paced: Load = { plan: { chunks: 250, perWrite: 1, gapMs: 20 }, visitors: 500, requests: 500, rampMs: 2 };
const firstText = (visitors: number): Load => ({
  plan: { chunks: 10, perWrite: 1, gapMs: 50 },
  visitors,
  requests: visitors === 1 ? 20 : visitors * 4,
  rampMs: visitors === 1 ? 0 : 500 / visitors,
});

function say(sentence: string): void {
  console.error(sentence);
}

async function benchStreams(report: Report): Promise<void> {
  for (const start of starters) {
    // A provider and a server of its own for each: nothing of one run warms or burdens the next.
    const provider = await startProvider();
    const contender = await start(provider.port).catch((error: unknown) => {
      say(`left out: ${error}`);
      return null;
    });
    if (contender === null) {
      await provider.stop();
      continue;
    }
    say(`streams: ${contender.name}`);
    try {
      await measureStreams(contender, { ...saturatedOne, requests: 100 });
      const rounds = [await measureStreams(contender, saturatedOne), await measureStreams(contender, saturatedOne)];
      rounds.sort((a, b) => a.cpuMicrosPerChunk - b.cpuMicrosPerChunk);
      const [best] = rounds;
      if (!best) throw new Error("no round was measured");
      report.streams.push({
        name: contender.name,
        one: best,
        eight: await measureStreams(contender, saturatedEight),
        paced: await measureStreams(contender, paced),
        first: {
          1: await measureStreams(contender, firstText(1)),
          50: await measureStreams(contender, firstText(50)),
          500: await measureStreams(contender, firstText(500)),
        },
      });
    } catch (error) {
      say(`left out: ${contender.name}: ${error}`);
    } finally {
      await contender.stop();
      await provider.stop();
    }
  }
}

async function benchMemory(report: Report): Promise<void> {
  for (const start of starters) {
    const provider = await startProvider();
    const contender = await start(provider.port).catch(() => null);
    if (contender !== null) {
      say(`memory: ${contender.name}`);
      try {
        const thousand = await measureMemory(contender, provider, 1_000);
        const fiveThousand = await measureMemory(contender, provider, 5_000);
        report.memory.push({ name: contender.name, thousand, fiveThousand });
      } catch (error) {
        say(`left out: ${contender.name}: ${error}`);
      }
      await contender.stop();
    }
    await provider.stop();
  }
}

async function benchConfig(report: Report): Promise<void> {
  const provider = await startProvider();
  const contenders: Contender[] = [];
  for (const start of [startCompaniond, startPassThrough, startNginx]) {
    const contender = await start(provider.port);
    if (contender) contenders.push(contender);
  }
  const rounds = 3;
  for (let round = 0; round < rounds; round++) {
    // Interleaved, so that a noisy minute falls on all of them.
    for (const contender of contenders) {
      if (contender.configPath === null) continue;
      say(`config requests: ${contender.name}`);
      const figures = runWrk(contender.port, contender.configPath, 3);
      if (figures) report.config.push({ name: contender.name, ...figures });
    }
  }
  for (const contender of contenders) await contender.stop();
  await provider.stop();
}

async function benchStart(report: Report): Promise<void> {
  say("start: companiond and hello-world");
  const { mkdtempSync } = await import("node:fs");
  const dataDir = mkdtempSync("/tmp/companiond-start-");
  const hello = await buildHelloWorld();
  const environment = { COMPANIOND_DATA_DIR: dataDir, COMPANIOND_LOG: "warn" };
  const serve = (port: number) => [executable, "serve", "--port", String(port)];
  report.start = {
    companiond: await measureStart(serve, "/healthz", executable, 21, environment),
    helloWorld: await measureStart((port) => [hello, String(port)], "/", hello, 21),
    bunMiB: (await Bun.file(process.execPath).stat()).size / 1024 / 1024,
  };
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

const parts = {
  streams: benchStreams,
  memory: benchMemory,
  config: benchConfig,
  start: benchStart,
  micro: benchMicro,
  metadata: benchMetadata,
};

async function main(): Promise<void> {
  const wanted = process.argv.slice(2);
  const report: Report = { streams: [], memory: [], config: [], start: null, micro: null, metadata: null };
  for (const [name, bench] of Object.entries(parts)) {
    if (wanted.length === 0 || wanted.includes(name)) await bench(report);
  }
  const text = renderReport(report);
  console.log(text);
  // A part alone is for looking at; only a whole run replaces the record.
  if (wanted.length === 0) await Bun.write(join(import.meta.dir, "RESULTS.md"), text);
}

await main();
