/** What the benchmark is to show, and whether this run showed it. */

import type { Report, StreamRow } from "./figures.ts";
import { fixed, table } from "./markdown.ts";
import { closedInTimeMs } from "./streams.ts";

interface Goal {
  what: string;
  isReached: boolean;
  figure: string;
}

const companiond = "companiond";
const costLoads = [
  ["one", "saturated, one chunk a write"],
  ["eight", "saturated, eight a write"],
  ["lockStep", "lock step"],
  ["paced", "500 streams of 50 chunks a second"],
] as const;

export function renderGoals(report: Report): string {
  const goals = [
    ...findStreamGoals(report),
    ...findMemoryGoals(report),
    ...findConfigGoals(report),
    ...findStartGoals(report),
    ...findMicroGoals(report),
  ];
  if (goals.length === 0) return "";
  const rows = goals.map(({ what, isReached, figure }) => [what, isReached ? "yes" : "**no**", figure]);
  return `## Goals\n\n${table(["goal", "reached", "figure"], rows)}`;
}

function findStreamGoals({ streams }: Report): Goal[] {
  const rowOf = (name: string) => streams.find((each) => each.name === name);
  const [own, base, naive] = [companiond, "pass-through", "Elysia + SDK generator"].map(rowOf);
  if (own === undefined) return [];
  const ratio = (of: StreamRow | undefined, to: StreamRow | undefined, load: (typeof costLoads)[number][0]) =>
    (of?.[load]?.cpuMicrosPerChunk ?? Number.NaN) / (to?.[load]?.cpuMicrosPerChunk ?? Number.NaN);
  return costLoads.flatMap(([load, name]) => {
    const [toBase, toNaive] = [ratio(own, base, load), ratio(naive, own, load)];
    return [
      {
        what: `CPU per chunk at most 1.0 of pass-through: ${name}`,
        isReached: toBase <= 1,
        figure: `× ${fixed(toBase)}`,
      },
      {
        what: `CPU per chunk at least 2.5 times less than the SDK generator: ${name}`,
        isReached: toNaive >= 2.5,
        figure: `${fixed(toNaive, 1)} times`,
      },
    ];
  });
}

function findMemoryGoals({ memory, leaving }: Report): Goal[] {
  const goals: Goal[] = [];
  const peak = memory.find((each) => each.name === companiond)?.fiveThousand.providerPeak;
  if (peak !== undefined) {
    goals.push({
      what: "5 000 provider streams open for 5 000 clients, nothing set in the environment",
      isReached: peak >= 5_000,
      figure: `${peak} open at once`,
    });
  }
  const left = leaving.find((each) => each.name === companiond);
  if (left === undefined) return goals;
  const { oneByOne, together, youngKiB, beforeKiB, afterKiB } = left;
  goals.push({
    what: `a visitor leaves: provider closed within ${closedInTimeMs} ms, every time`,
    isReached: oneByOne.inTime === oneByOne.count,
    figure: `${oneByOne.inTime} of ${oneByOne.count}, the slowest ${fixed(oneByOne.max, 1)} ms`,
  });
  goals.push({
    what: `the same for 400 who leave at one blow`,
    isReached: together.inTime === together.count,
    figure: `${together.inTime} of ${together.count}, the slowest ${fixed(together.max, 1)} ms`,
  });
  goals.push({
    what: "10 000 random disconnects: alive, memory within 1.3 of before, from the first 1 000 on",
    isReached: beforeKiB <= youngKiB * 1.3,
    figure: `× ${fixed(beforeKiB / youngKiB)}`,
  });
  goals.push({
    what: "the same for the next 10 000",
    isReached: afterKiB <= beforeKiB * 1.3,
    figure: `× ${fixed(afterKiB / beforeKiB)}`,
  });
  return goals;
}

function findConfigGoals({ config }: Report): Goal[] {
  const perSecond = (name: string) => {
    const values = config.filter((each) => each.name === name).map((each) => each.perSecond);
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  const ratio = perSecond(companiond) / perSecond("pass-through");
  if (Number.isNaN(ratio)) return [];
  const what = "config requests at least 0.3 of a static response, every header on";
  return [{ what, isReached: ratio >= 0.3, figure: `× ${fixed(ratio)}` }];
}

function findStartGoals({ start }: Report): Goal[] {
  if (start === null) return [];
  const ratio = start.companiond.firstResponseMs / start.helloWorld.firstResponseMs;
  const what = "start to the first answer within 2.5 times of hello-world";
  return [{ what, isReached: ratio <= 2.5, figure: `× ${fixed(ratio)}` }];
}

function findMicroGoals({ micro }: Report): Goal[] {
  if (micro === null) return [];
  const { bareMicros, checkMicros } = micro.keyCheck;
  const verdictNanos = Number(/^verdict, 100 000 addresses +(\d+) ns$/m.exec(micro.limiterText)?.[1]);
  return [
    {
      what: "API key check at most 10 µs, uncached",
      isReached: checkMicros <= 10,
      figure: `${fixed(checkMicros)} µs, × ${fixed(checkMicros / bareMicros)} of a bare lookup`,
    },
    {
      what: "limiter at most 1 µs, among 100 000 addresses",
      isReached: verdictNanos <= 1_000,
      figure: `${verdictNanos} ns`,
    },
  ];
}
