import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import type { RateRule } from "../../src/contracts/limiter/limiter.ts";
import { createMemoryLimiter } from "../../src/engines/memory/limiter/memory.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { subjects, testLimiterContract } from "../contracts/limiter.ts";
import { createManualClock } from "../support/manual-clock.ts";

testLimiterContract("memory", (clock) => createMemoryLimiter({ clock }));

const rule: RateRule = { name: "ip", limit: 2, windowMs: 60_000 };

function addressOf(index: number): string {
  return index % 2 === 0 ? `10.0.${index >>> 8}.${index & 255}` : `2001:db8:0:${index.toString(16)}::/64`;
}

const kinds = [
  { kind: "addresses", subjectOf: addressOf },
  { kind: "networks", subjectOf: (index: number) => `2001:db8:${index.toString(16)}::/48` },
  { kind: "texts", subjectOf: (index: number) => `subject ${index}` },
];

test("the memory limiter holds each subject once, however alike they look", async () => {
  const limiter = createMemoryLimiter({ clock: createManualClock() });
  for (let round = 0; round < 2; round++) for (const subject of subjects) await limiter.admit(rule, subject);
  expect(limiter.size).toBe(subjects.length);
});

describe.each(kinds)("the memory limiter's bounds for $kind", ({ subjectOf }) => {
  function open() {
    const clock = createManualClock();
    return { clock, limiter: createMemoryLimiter({ clock, maxAddresses: 1000, maxNetworks: 1000, maxTexts: 1000 }) };
  }

  test("holds no more subjects than allowed, and counts evictions", async () => {
    const { limiter } = open();
    for (let index = 0; index < 5000; index++) await limiter.admit(rule, subjectOf(index));
    expect(limiter.size).toBe(1000);
    expect(limiter.evictedCount).toBe(4000);
    for (let index = 4000; index < 5000; index++)
      expect(await limiter.admit(rule, subjectOf(index))).toMatchObject({ remaining: 0 });
    expect(limiter.evictedCount).toBe(4000);
  });

  test("evicts the least recently seen; a refusal counts as seen", async () => {
    const { limiter } = open();
    for (let i = 0; i < 3; i++) await limiter.admit(rule, subjectOf(0));
    for (let index = 1; index < 5000; index++) {
      await limiter.admit(rule, subjectOf(index));
      if (index % 900 === 0) expect(await limiter.admit(rule, subjectOf(0))).toMatchObject({ isAdmitted: false });
    }
    expect(await limiter.admit(rule, subjectOf(1))).toMatchObject({ isAdmitted: true, remaining: 1 });
  });

  test("drops subjects with an empty window as others come, without an eviction", async () => {
    const { clock, limiter } = open();
    for (let index = 0; index < 900; index++) await limiter.admit(rule, subjectOf(index));
    clock.advance(30_000);
    await limiter.admit(rule, subjectOf(5000));
    clock.advance(30_000);
    for (let index = 0; index < 100; index++) await limiter.admit(rule, subjectOf(6000 + index));
    expect(limiter.size).toBe(101);
    expect(limiter.evictedCount).toBe(0);
    expect(await limiter.admit(rule, subjectOf(5000))).toMatchObject({ remaining: 0, resetMs: 30_000 });
  });

  test("starts each new subject with an empty window after an eviction", async () => {
    const { clock, limiter } = open();
    for (let index = 0; index < 1000; index++) for (let i = 0; i < 2; i++) await limiter.admit(rule, subjectOf(index));
    clock.advance(1);
    for (let index = 1000; index < 2000; index++) {
      expect(await limiter.admit(rule, subjectOf(index))).toMatchObject({
        isAdmitted: true,
        remaining: 1,
        resetMs: 60_000,
      });
    }
  });
});

describe("the memory limiter's clock", () => {
  afterEach(() => {
    setSystemTime();
  });

  test("neither admits nor locks out when the wall clock is stepped", async () => {
    const limiter = createMemoryLimiter({ clock: systemClock });
    for (const stepMs of [86_400_000, -86_400_000]) {
      const subject = `10.0.0.${stepMs > 0 ? 1 : 2}`;
      for (let i = 0; i < 2; i++) await limiter.admit(rule, subject);
      setSystemTime(new Date(Date.now() + stepMs));
      const verdict = await limiter.admit(rule, subject);
      expect(verdict.isAdmitted).toBe(false);
      expect(verdict.resetMs).toBeLessThanOrEqual(60_000);
      setSystemTime();
    }
  });

  test("admits nobody early even if the monotonic clock goes back", async () => {
    let nowMs = 100_000;
    const limiter = createMemoryLimiter({ clock: { monotonicMs: () => nowMs } });
    for (const subject of ["192.0.2.1", "a token"]) {
      nowMs = 100_000;
      for (let i = 0; i < 2; i++) await limiter.admit(rule, subject);
      nowMs = 10_000;
      expect(await limiter.admit(rule, subject)).toMatchObject({ isAdmitted: false, resetMs: 60_000 });
    }
  });
});

test("a million addresses take at most 50 MiB, and free them afterwards", async () => {
  // A separate process: garbage of other tests would count.
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/million-addresses.ts`], { stdout: "pipe" });
  const { size, heldMiB, keptMiB } = JSON.parse(await child.stdout.text());
  expect(size).toBe(1_000_000);
  expect(heldMiB).toBeGreaterThan(20);
  expect(heldMiB).toBeLessThanOrEqual(50);
  expect(keptMiB).toBeLessThan(heldMiB / 2);
});
