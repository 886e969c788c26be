/** The backup schedule follows the wall clock: what is due runs once, however the clock is set. */
import { expect, test } from "bun:test";
import { createDueCheck, startSchedule } from "../../src/server/jobs/backups.ts";

const at = (text: string) => Date.parse(text);
const nightly = "0 3 * * *";

test("is due once at each instant of the schedule", () => {
  const isDue = createDueCheck(nightly, at("2026-01-15T12:00:00"));
  expect(isDue(at("2026-01-16T02:59:59.999"))).toBe(false);
  expect(isDue(at("2026-01-16T03:00:00"))).toBe(true);
  expect(isDue(at("2026-01-16T03:00:01"))).toBe(false);
  expect(isDue(at("2026-01-17T03:00:00.400"))).toBe(true);
});

test("is due once if the clock is set forward past many instants, and continues from there", () => {
  const isDue = createDueCheck(nightly, at("1970-01-02T00:00:00"));
  expect(isDue(at("2026-01-15T12:00:00"))).toBe(true);
  expect(isDue(at("2026-01-15T12:00:01"))).toBe(false);
  expect(isDue(at("2026-01-16T03:00:00"))).toBe(true);
});

test("is due again at the next instant of a clock that was set back by a year", () => {
  const isDue = createDueCheck(nightly, at("2027-01-15T12:00:00"));
  expect(isDue(at("2026-01-15T12:00:00"))).toBe(false);
  expect(isDue(at("2026-01-16T03:00:00"))).toBe(true);
});

test("is not due again if NTP sets the clock back a moment later", () => {
  const isDue = createDueCheck(nightly, at("2026-01-15T12:00:00"));
  expect(isDue(at("2026-01-16T03:00:00.100"))).toBe(true);
  expect(isDue(at("2026-01-16T02:59:59.800"))).toBe(false);
  expect(isDue(at("2026-01-16T03:00:00"))).toBe(false);
});

test("is never due if the schedule has no further instant", () => {
  const isDue = createDueCheck("0 3 31 2 *", at("2026-01-15T12:00:00"));
  expect(isDue(at("2126-01-15T12:00:00"))).toBe(false);
});

test("runs as soon as the clock is past an instant, and not again while it runs", async () => {
  let nowMs = at("2026-01-15T12:00:00");
  let runs = 0;
  const started = Promise.withResolvers<void>();
  const lookedOnce = Promise.withResolvers<void>();
  const clock = {
    nowMs: () => {
      if (runs > 0) lookedOnce.resolve();
      return nowMs;
    },
  };
  const schedule = startSchedule(clock, nightly, () => {
    runs++;
    nowMs += 86_400_000;
    started.resolve();
    return new Promise(() => {});
  });
  nowMs += 86_400_000;
  await started.promise;
  await lookedOnce.promise;
  schedule.stop();
  expect(runs).toBe(1);
});
