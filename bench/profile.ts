/**
 * Where companiond's own time goes under one of the loads: `bun bench/profile.ts lockStep`, or `config`.
 *
 * Runs from source under Bun's profiler, since the compiled program has no names left, and prints the shares of
 * functions and files. System calls show up under the function that makes them.
 */
import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Load } from "./load/plan.ts";
import { startProvider } from "./load/processes.ts";
import { leaving, loads } from "./loads.ts";
import { startCompaniond } from "./rivals/start.ts";
import { measureStreams, warmUp } from "./streams.ts";
import { runWrk } from "./wrk.ts";

interface Frame {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
  children?: number[];
}

interface CpuProfile {
  nodes: Frame[];
  samples: number[];
  timeDeltas: number[];
}

const root = join(import.meta.dir, "..");
const rows = 60;
const profiled: Record<string, Load> = { ...loads, leaving: leaving.oneByOne };

async function profile(name: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "companiond-profile-"));
  const switches = ["--cpu-prof", "--cpu-prof-interval", "200", "--cpu-prof-dir", directory];
  const provider = await startProvider();
  const contender = await startCompaniond(provider.port, ["bun", ...switches, join(root, "src/main.ts")]);
  try {
    if (name === "config") runWrk(contender.port, contender.configPath ?? "/", 6);
    else {
      const load = profiled[name];
      if (load === undefined) throw new Error(`one of config, ${Object.keys(profiled).join(", ")}`);
      await warmUp(contender, provider);
      const figures = await measureStreams(contender, provider, load);
      console.log(`${figures.cpuMicrosPerChunk.toFixed(2)} µs per chunk under the profiler`);
    }
    // Not the harness's own way to stop a server, which is less patient than the profiler is slow.
    process.kill(contender.pid, "SIGTERM");
    return await findProfile(directory);
  } finally {
    await contender.stop();
    await provider.stop();
  }
}

async function findProfile(directory: string): Promise<string> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const file = readdirSync(directory).find((each) => each.endsWith(".cpuprofile"));
    if (file !== undefined && statSync(join(directory, file)).size > 0) {
      await Bun.sleep(1_000);
      return join(directory, file);
    }
    await Bun.sleep(100);
  }
  throw new Error(`no profile in ${directory}`);
}

/** Native code has no file: it counts for the function of ours, or of a package, that called it. */
function print(path: string): void {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(path, "utf8")) as CpuProfile;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const selfMicros = new Map<number, number>();
  samples.forEach((id, index) => {
    selfMicros.set(id, (selfMicros.get(id) ?? 0) + (timeDeltas[index] ?? 0));
  });
  const own = new Map<string, number>();
  const whole = new Map<string, number>();
  let total = 0;
  for (const [id, micros] of selfMicros) {
    const names = stackOf(id).map(({ callFrame }) => nameOf(callFrame));
    if (names[0]?.startsWith("(idle)")) continue;
    total += micros;
    const caller = names.find((name) => name.includes("/")) ?? "";
    const native = names[0] === caller ? "" : `${names[0]} < `;
    add(own, native + caller, micros);
    for (const name of new Set(names)) add(whole, name, micros);
  }
  printShares("By itself", own, total);
  printShares("With all that it calls", whole, total);

  function stackOf(leaf: number): Frame[] {
    const stack: Frame[] = [];
    for (let id: number | undefined = leaf; id !== undefined; id = parents.get(id)) {
      const node = byId.get(id);
      if (node !== undefined) stack.push(node);
    }
    return stack;
  }
}

function nameOf({ functionName, url, lineNumber }: Frame["callFrame"]): string {
  const file = url.replace(/^file:\/\//, "").replace(`${root}/`, "");
  return file.includes("/") ? `${functionName} ${file}:${lineNumber + 1}` : functionName;
}

function add(sums: Map<string, number>, key: string, micros: number): void {
  sums.set(key, (sums.get(key) ?? 0) + micros);
}

function printShares(title: string, sums: Map<string, number>, total: number): void {
  console.log(title);
  const sorted = [...sums].sort((a, b) => b[1] - a[1]).slice(0, rows);
  for (const [what, micros] of sorted) console.log(`${((micros / total) * 100).toFixed(1).padStart(5)} %  ${what}`);
  console.log("");
}

const given = process.argv[2] ?? "lockStep";
// A profile that is there already can be looked at again.
print(given.endsWith(".cpuprofile") ? given : await profile(given));
process.exit(0);
