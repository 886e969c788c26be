import { startProvider } from "./load/processes.ts";
import { loads } from "./loads.ts";
import { startCompaniond } from "./rivals/start.ts";
import { measureMemory, measureStreams, warmUp } from "./streams.ts";
const [part = "request"] = process.argv.slice(2);
const provider = await startProvider();
const contender = await startCompaniond(provider.port);
if (contender === null) throw new Error("no contender");
if (part === "memory") {
  const m = await measureMemory(contender, provider, 3_000);
  console.log(JSON.stringify({ part, perStreamKiB: m.perStreamKiB.toFixed(2), idle: m.idleKiB, after: m.afterKiB }));
} else {
  await warmUp(contender, provider);
  const best: Record<string, number[]> = {};
  for (const name of part.split(",") as (keyof typeof loads)[]) for (let i = 0; i < (name === "paced" ? 1 : 4); i++) {
    const f = await measureStreams(contender, provider, loads[name]);
    (best[name] ??= []).push(Number(f.cpuMicrosPerChunk.toFixed(2)));
  }
  console.log(JSON.stringify(best));
}
await contender.stop();
await provider.stop();
