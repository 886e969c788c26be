/** How servers find out what time it is at the database. */
import { expect, test } from "bun:test";
import { ClockWatch, InstanceClock } from "../../src/engines/postgres/coordination/instance-clock.ts";
import { createCapturedLog } from "../support/captured-log.ts";

function clockAfter(...samples: (readonly [offsetMs: number, roundTripMs: number])[]): InstanceClock {
  const clock = new InstanceClock();
  for (const [offsetMs, roundTripMs] of samples) clock.add({ offsetMs, roundTripMs });
  return clock;
}

test("a small difference is no difference", () => {
  expect(clockAfter([12, 1], [-30, 80], [49, 2]).offsetMs).toBe(0);
});

test("a large difference is corrected at once, by the quickest answer", () => {
  expect(clockAfter([90_000, 5]).offsetMs).toBe(90_000);
  const clock = clockAfter([-90_000, 1], [-90_040, 200], [-90_080, 300]);
  expect(clock.offsetMs).toBe(-90_000);
});

test("a middling difference is corrected bit by bit", () => {
  const clock = clockAfter([200, 1]);
  const steps: number[] = [];
  for (let i = 0; i < 40; i++) {
    steps.push(clock.offsetMs);
    clock.add({ offsetMs: 200, roundTripMs: 1 });
  }
  expect(steps).toEqual(steps.toSorted((one, other) => one - other));
  for (const [at, offsetMs] of steps.entries()) expect(offsetMs - (steps[at - 1] ?? 0)).toBeLessThanOrEqual(40);
  expect(clock.offsetMs).toBe(200);
});

test("a clock that is set on either side is followed with the next answer, however quick earlier ones were", () => {
  const clock = clockAfter([0, 0.5], [1, 0.5], [3_600_000, 40]);
  expect(clock.offsetMs).toBe(3_600_000);
  clock.add({ offsetMs: 2, roundTripMs: 30 });
  expect(clock.offsetMs).toBe(0);
});

test("a slow answer, which tells little, moves nothing", () => {
  const clock = clockAfter([0, 1]);
  clock.add({ offsetMs: 400, roundTripMs: 900 });
  expect(clock.offsetMs).toBe(0);
});

test("clocks that are more than a second apart are told once, and so is their agreement", () => {
  const log = createCapturedLog();
  const watch = new ClockWatch(log);
  for (const offsetMs of [0, 1000, -1000.4, -61_000, -61_002, 400, 0]) watch.check(offsetMs);
  expect(log.events.map(({ level, fields }) => [level, fields])).toEqual([
    ["warn", { offsetMs: -1000 }],
    ["info", {}],
  ]);
});
