/**
 * Builds in turns under one load: `bun bench/compare.ts LOAD ROUNDS BUILD BUILD...`, where a build is an executable's file,
 * `pass-through` or `bare-relay`. Each turn is a process of its own. Prints medians and the best, for noise only adds.
 *
 * A load is one of `loads.ts`, `config` or `quiet` (5 000 streams), several with commas between; or `start` alone.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuSeconds, loadCore, startProvider } from "./load/processes.ts";
import { type LoadName, loads } from "./loads.ts";
import { fixed, table } from "./markdown.ts";
import { type Contender, startBareRelay, startCompaniond, startPassThrough } from "./rivals/start.ts";
import { measureStarts } from "./start-up.ts";
import { measureMemory, measureStreams, type Provider, warmUp } from "./streams.ts";
import { runWrk } from "./wrk.ts";

const [loadList = "", roundsGiven = "8", ...builds] = process.argv.slice(2);
const figures = new Map<string, number[]>();

const unknown = loadList.split(",").filter((load) => !(load in loads || load === "config" || load === "quiet"));
if (loadList !== "start" && unknown.length > 0) {
  console.error(
    `No such load: ${unknown.join(", ")}. There are ${Object.keys(loads).join(", ")}, config, quiet, start (alone).`,
  );
  process.exit(2);
}

function note(load: string, unit: string, build: string, value: number): void {
  const key = `${load} | ${unit} | ${build}`;
  figures.set(key, [...(figures.get(key) ?? []), value]);
}

function startBuild(build: string, providerPort: number): Promise<Contender> {
  if (build === "pass-through") return startPassThrough(providerPort);
  if (build === "bare-relay") return startBareRelay(providerPort);
  return startCompaniond(providerPort, [build], build);
}

async function measure(load: string, build: string, contender: Contender, provider: Provider): Promise<void> {
  if (load === "config") {
    runWrk(contender.port, contender.configPath ?? "/", 2);
    const before = cpuSeconds(contender.pid);
    const wrk = runWrk(contender.port, contender.configPath ?? "/", 3);
    if (wrk === null) throw new Error("needs wrk");
    note(load, "µs a request", build, ((cpuSeconds(contender.pid) - before) * 1e6) / wrk.requests);
    note(load, "requests a second, negative", build, -wrk.perSecond);
  } else if (load === "quiet") {
    note(load, "KiB a stream", build, (await measureMemory(contender, provider, 5_000)).perStreamKiB);
  } else {
    const { cpuMicrosPerChunk, firstTextMs, chunkLatencyMs } = await measureStreams(
      contender,
      provider,
      loads[load as LoadName],
    );
    note(load, "µs a chunk", build, cpuMicrosPerChunk);
    // Where this is far above a few milliseconds, the machine was too busy for the load: many chunks came in one read.
    if (load === "paced") note(load, "ms on the way, p50", build, chunkLatencyMs.p50);
    if (load.startsWith("first")) note(load, "ms to the first text, p50", build, firstTextMs.p50);
    if (load.startsWith("first")) note(load, "ms to the first text, p99", build, firstTextMs.p99);
  }
}

async function takeTurn(build: string): Promise<void> {
  const provider = await startProvider();
  let contender: Contender | null = null;
  try {
    contender = await startBuild(build, provider.port);
    const wanted = loadList.split(",");
    if (wanted.some((load) => load in loads)) await warmUp(contender, provider);
    for (const load of wanted) await measure(load, build, contender, provider);
  } finally {
    await contender?.stop();
    await provider.stop();
  }
}

async function compareStarts(rounds: number): Promise<void> {
  const starters = builds.map((executable) => ({
    command: (port: number) => [executable, "serve", "--port", String(port)],
    path: "/healthz",
    executable,
    // A database of its own: a build refuses one of a later version.
    environment: { COMPANIOND_DATA_DIR: mkdtempSync(join(tmpdir(), "companiond-compare-")) },
  }));
  const starts = await measureStarts(starters, rounds);
  for (const [index, { firstResponseMs }] of starts.entries())
    note("start", "ms", builds[index] ?? "", firstResponseMs);
}

function print(): void {
  const firstMedians = new Map<string, number>();
  const rows = [...figures].sort().map(([key, values]) => {
    values.sort((a, b) => a - b);
    const [load = "", unit = "", build = ""] = key.split(" | ");
    const at = (share: number) => values[Math.floor((values.length - 1) * share)] ?? Number.NaN;
    if (build === builds[0]) firstMedians.set(load + unit, at(0.5));
    return { key, load, unit, build, best: at(0), quarter: at(0.25), median: at(0.5), threeQuarters: at(0.75) };
  });
  const cells = rows.map(({ load, unit, build, ...of }) => [
    load,
    unit,
    build,
    fixed(of.best),
    fixed(of.quarter),
    fixed(of.median),
    fixed(of.threeQuarters),
    fixed(of.median / (firstMedians.get(load + unit) ?? Number.NaN)),
  ]);
  console.log(table(["load", "figure", "build", "best", "a quarter", "median", "three quarters", "× first"], cells));
}

// The harness looks on from the load's core, too.
Bun.spawnSync(["taskset", "-acp", String(loadCore), String(process.pid)]);
const rounds = Number(roundsGiven);
if (loadList === "start") await compareStarts(rounds);
else
  for (let round = 0; round < rounds; round++) {
    // Whoever is first in one round is last in the next.
    for (const build of round % 2 === 0 ? builds : builds.toReversed()) {
      try {
        await takeTurn(build);
      } catch (error) {
        console.error(`left out: ${build}: ${error}`);
      }
    }
    console.error(`round ${round + 1} of ${rounds}`);
  }
print();
process.exit(0);
