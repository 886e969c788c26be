/** What the benchmark is to show, and whether this run showed it. */

import type { Goal, Report } from "./figures.ts";
import { findKnowledgeGoals } from "./knowledge/goals.ts";
import { fixed, table } from "./markdown.ts";
import { responsesName } from "./rivals/start.ts";
import { closedInTimeMs } from "./streams.ts";

const companiond = "companiond";
/** By name, as their rows are called. */
const yardsticks = { passThrough: "pass-through", bareRelay: "bare relay", direct: "no server between" };

export function renderGoals(report: Report): string {
  const goals = [
    ...findStreamGoals(report),
    ...findDiskGoals(report),
    ...findMemoryGoals(report),
    ...findConfigGoals(report),
    ...findStartGoals(report),
    ...findMicroGoals(report),
    ...findKnowledgeGoals(report.knowledge),
  ];
  if (goals.length === 0) return "";
  const rows = goals.map(({ what, isReached, figure }) => [what, isReached ? "yes" : "**no**", figure]);
  return `## Goals\n\n${table(["goal", "reached", "figure"], rows)}`;
}

/** How models write, and what a message costs that is answered at once. Saturated loads and lock step are no goals: no model writes like that. */
function findStreamGoals({ streams }: Report): Goal[] {
  const rowOf = (name: string) => streams.find((each) => each.name === name);
  const own = rowOf(companiond);
  if (own === undefined) return [];
  const costs = (load: "paced" | "request", yardstick: string, name = companiond) => {
    const [cost, base] = [rowOf(name), rowOf(yardstick)].map((row) => row?.[load]?.cpuMicrosPerChunk ?? Number.NaN);
    return { cost, ratio: (cost ?? Number.NaN) / (base ?? Number.NaN) };
  };
  const paced = costs("paced", yardsticks.bareRelay);
  const request = costs("request", yardsticks.passThrough);
  const responses = (["request", "paced"] as const).map((load) => costs(load, companiond, responsesName).ratio);
  const [first, base] = [own, rowOf(yardsticks.passThrough)].map((row) => row?.first500?.firstTextMs);
  const [addedP50, addedP99] = (["p50", "p99"] as const).map((q) => (first?.[q] ?? Number.NaN) - (base?.[q] ?? 0));
  return [
    {
      what: "CPU per chunk at most 1.15 of a bare relay with the same sockets: 500 streams of 50 chunks a second",
      isReached: paced.ratio <= 1.15,
      figure: `× ${fixed(paced.ratio)}`,
    },
    {
      what: "CPU of a whole request of one chunk at most 2.15 of a pass-through's: 200 µs where that takes 93",
      isReached: request.ratio <= 2.15,
      figure: `${fixed(request.cost ?? Number.NaN, 0)} µs, × ${fixed(request.ratio)}`,
    },
    {
      what: "over the Responses API a whole request and a paced chunk cost at most 1.1 of what they cost over chats",
      isReached: responses.every((ratio) => ratio <= 1.1),
      figure: responses.map((ratio) => `× ${fixed(ratio)}`).join(" / "),
    },
    {
      what: "time to first text of 500 visitors who think for a second: at most 1 ms over a pass-through in the median, 8 ms at p99",
      isReached: (addedP50 ?? Number.NaN) <= 1 && (addedP99 ?? Number.NaN) <= 8,
      figure: `+${fixed(addedP50 ?? Number.NaN)} / +${fixed(addedP99 ?? Number.NaN)} ms`,
    },
  ];
}

function findDiskGoals({ disk }: Report): Goal[] {
  return disk.map(({ quick, slow }) => ({
    what: "time to first text of 50 visitors on a disk whose syncs take 5 ms: at most 1.5 of the same on a quick one",
    isReached: slow.p50 <= quick.p50 * 1.5,
    figure: `× ${fixed(slow.p50 / quick.p50)}, p99 × ${fixed(slow.p99 / quick.p99)}`,
  }));
}

function findMemoryGoals({ memory, leaving }: Report): Goal[] {
  const goals: Goal[] = [];
  const held = memory.find((each) => each.name === companiond);
  if (held !== undefined) {
    const perStreamKiB = (held.fiveThousand.openKiB - held.thousand.idleKiB) / 5_000;
    goals.push({
      what: "memory of a quiet stream at most 15 KiB, of 5 000",
      isReached: perStreamKiB <= 15,
      figure: `${fixed(perStreamKiB, 1)} KiB`,
    });
    const peak = held.fiveThousand.providerPeak;
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
  const ratio = perSecond(companiond) / perSecond(yardsticks.passThrough);
  if (Number.isNaN(ratio)) return [];
  const what = "config requests at least 0.33 of a static response, every header on";
  return [{ what, isReached: ratio >= 0.33, figure: `× ${fixed(ratio)}` }];
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
