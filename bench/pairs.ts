/**
 * Two builds in pairs of slices: `bun bench/pairs.ts LOADS PAIRS BUILD BUILD`, several loads with commas between. Both
 * servers live through the whole run, warm, and take the load in turns of a second or a few; each pair gives one ratio, and
 * the median of those is what counts. Whatever else goes on in a shared machine meets both halves of a pair alike, which
 * the turns of `compare.ts`, a process each, cannot say of themselves: for a difference of a few in a hundred, measure here.
 *
 * A build is an executable's file; with `,responses` behind it, it asks the provider by the Responses API.
 */
import { cpuSeconds, loadCore, startProvider } from "./load/processes.ts";
import { type LoadName, loads } from "./loads.ts";
import { fixed, table } from "./markdown.ts";
import { type Contender, startCompaniond } from "./rivals/start.ts";
import { measureStreams, type Provider, warmUp } from "./streams.ts";

const [loadList = "", pairsGiven = "", first = "", second = ""] = process.argv.slice(2);
const wanted = loadList.split(",");
const pairs = Number(pairsGiven);
if (second === "" || !(pairs > 0) || wanted.some((load) => !(load in loads))) {
  console.error(
    `bun bench/pairs.ts LOADS PAIRS BUILD BUILD[,responses], with LOADS of ${Object.keys(loads).join(", ")}`,
  );
  process.exit(2);
}

/** Requests in one slice: long enough for the kernel's clock of 10 ms, short beside what else happens on the machine. */
const sliceRequests: Partial<Record<LoadName, number>> = { request: 2_000, one: 100, eight: 200, lockStep: 150 };

interface Side {
  build: string;
  contender: Contender;
  provider: Provider;
}

async function start(build: string): Promise<Side> {
  const [file = "", api] = build.split(",");
  const provider = await startProvider();
  const contender = await startCompaniond(provider.port, [file], file, api === "responses" ? "responses" : "chat");
  await warmUp(contender, provider);
  return { build, contender, provider };
}

/** Microseconds of processor time of the server, for each chunk. */
async function measureSlice({ contender, provider }: Side, name: LoadName): Promise<number> {
  const load = loads[name];
  const requests = sliceRequests[name] ?? load.requests;
  const before = cpuSeconds(contender.pid);
  const { chunks } = await measureStreams(contender, provider, { ...load, requests });
  return ((cpuSeconds(contender.pid) - before) * 1e6) / chunks;
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN;
}

async function comparePairs(left: Side, right: Side, name: LoadName): Promise<string[]> {
  const ofLeft: number[] = [];
  const ofRight: number[] = [];
  const ratios: number[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    // Whoever is first in one pair is second in the next.
    const isLeftFirst = pair % 2 === 0;
    const one = await measureSlice(isLeftFirst ? left : right, name);
    const other = await measureSlice(isLeftFirst ? right : left, name);
    const [ofFirst, ofSecond] = isLeftFirst ? [one, other] : [other, one];
    ofLeft.push(ofFirst);
    ofRight.push(ofSecond);
    ratios.push(ofSecond / ofFirst);
    console.error(`${name}, pair ${pair + 1} of ${pairs}: ${fixed(ofFirst)} and ${fixed(ofSecond)} µs`);
  }
  const spread = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(3));
  return [name, fixed(quantile(ofLeft, 0.5)), fixed(quantile(ofRight, 0.5)), ...spread];
}

// The harness looks on from the load's core, too.
Bun.spawnSync(["taskset", "-acp", String(loadCore), String(process.pid)]);
const left = await start(first);
const right = await start(second);
const rows: string[][] = [];
for (const name of wanted) rows.push(await comparePairs(left, right, name as LoadName));
for (const { contender, provider } of [left, right]) {
  await contender.stop();
  await provider.stop();
}
console.log(table(["load", "first, µs", "second, µs", "ratio, a quarter", "median", "three quarters"], rows));
process.exit(0);
