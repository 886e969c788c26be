/** What every limiter engine must do; `open` gets the clock that the engine is to count by. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Limiter, RateRule } from "../../src/contracts/limiter/limiter.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { createRandom } from "../support/random.ts";

const minuteMs = 60_000;
const byIp: RateRule = { name: "ip", limit: 10, windowMs: minuteMs };
const byToken: RateRule = { name: "token", limit: 30, windowMs: minuteMs };

/** One of each kind that is held apart: IPv4, IPv6 network, text; and what looks alike. */
export const subjects = [
  "192.0.2.1",
  "192.0.2.10",
  "2001:db8::/64",
  "2001:db8:0:1::/64",
  "0:ffff:c000:201::/64",
  "::/64",
  "2001:db8::/56",
  "2001:db8::/48",
  "2001:db8:0:100::/56",
  "0:ffff:c000:201::/56",
  "2001:db8::/52",
  "2001:db8::1",
  "192.0.2.1/64",
  "emb_0123456789abcdefghijABCDEFGHIJ01",
  "unknown",
  "",
  "\0",
  "\ud800",
  "x".repeat(10_000),
] as const;

const rules: readonly RateRule[] = [
  { name: "ip", limit: 1, windowMs: minuteMs },
  byIp,
  byToken,
  { name: "ip", limit: 64, windowMs: minuteMs },
  { name: "ip", limit: 65, windowMs: minuteMs },
  { name: "ip", limit: 256, windowMs: minuteMs },
  { name: "ip", limit: 257, windowMs: minuteMs },
  { name: "ip", limit: 7, windowMs: 1 },
  { name: "ip", limit: 7, windowMs: 65_000 },
  { name: "key", limit: 600, windowMs: minuteMs },
  { name: "sign_in", limit: 30, windowMs: 15 * minuteMs },
];

export function testLimiterContract(
  engine: string,
  open: (clock: Pick<Clock, "monotonicMs">) => Limiter | Promise<Limiter>,
): void {
  describe(`limiter contract: ${engine}`, () => {
    let clock: ManualClock;
    let limiter: Limiter;

    beforeEach(async () => {
      clock = createManualClock();
      limiter = await open(clock);
    });

    afterEach(() => limiter.close());

    async function admitTimes(count: number, rule: RateRule, subject: string): Promise<number> {
      let admitted = 0;
      for (let i = 0; i < count; i++) if ((await limiter.admit(rule, subject)).isAdmitted) admitted++;
      return admitted;
    }

    test("admits as many as the limit and counts down what remains", async () => {
      const remaining: number[] = [];
      for (let i = 0; i < 10; i++) {
        const verdict = await limiter.admit(byIp, "192.0.2.1");
        expect(verdict).toMatchObject({ isAdmitted: true, rule: byIp, resetMs: minuteMs });
        remaining.push(verdict.remaining);
      }
      expect(remaining).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
      const refused = await limiter.admit(byIp, "192.0.2.1");
      expect(refused).toEqual({ isAdmitted: false, rule: byIp, remaining: 0, resetMs: minuteMs });
    });

    test("admits up to a part of the window, whoever takes the places, and with 0 only looks", async () => {
      const rule = { ...byToken, limit: 5 };
      for (const subject of ["192.0.2.1", "2001:db8::/56", "emb_0123456789abcdefghijABCDEFGHIJ01"]) {
        const told: unknown[] = [];
        const ask = async (most: number) => {
          const { isAdmitted, remaining, resetMs } = await limiter.admitUpTo(rule, subject, most);
          told.push([isAdmitted, remaining, resetMs]);
        };
        await ask(0);
        for (let i = 0; i < 4; i++) {
          await ask(3);
          clock.advance(1_000);
        }
        // Refused by its part, it occupies nothing of what is left to others.
        expect((await limiter.admit(rule, subject)).remaining).toBe(1);
        await ask(0);
        await ask(5);
        await ask(5);
        expect(told).toEqual([
          [false, 5, minuteMs],
          [true, 4, minuteMs],
          [true, 3, minuteMs - 1_000],
          [true, 2, minuteMs - 2_000],
          [false, 2, minuteMs - 3_000],
          [false, 1, minuteMs - 4_000],
          [true, 0, minuteMs - 4_000],
          [false, 0, minuteMs - 4_000],
        ]);
        const next = `${subject === "192.0.2.1" ? "192.0.2.2" : `another ${subject}`}`;
        const verdicts = await Promise.all(Array.from({ length: 50 }, () => limiter.admitUpTo(rule, next, 3)));
        expect(verdicts.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(3);
      }
    });

    test("counts subjects apart, however alike they look", async () => {
      for (const subject of subjects) expect(await admitTimes(12, byIp, subject)).toBe(10);
      for (const subject of subjects) expect(await admitTimes(1, byIp, subject)).toBe(0);
    });

    test("counts rules apart, and equal rules together", async () => {
      expect(await admitTimes(12, byIp, "192.0.2.1")).toBe(10);
      expect(await admitTimes(40, byToken, "192.0.2.1")).toBe(30);
      expect(await admitTimes(1, { ...byIp }, "192.0.2.1")).toBe(0);
      expect(await admitTimes(12, { ...byIp, windowMs: 30_000 }, "192.0.2.1")).toBe(10);
    });

    test.each(["192.0.2.1", "2001:db8::/64", "2001:db8::/48", "a token"])(
      "frees each place of %s exactly when its own request leaves the window",
      async (subject) => {
        const rule: RateRule = { name: "ip", limit: 2, windowMs: minuteMs };
        await limiter.admit(rule, subject);
        clock.advance(20_000);
        await limiter.admit(rule, subject);
        clock.advance(39_999);
        expect(await limiter.admit(rule, subject)).toMatchObject({ isAdmitted: false, resetMs: 1 });
        clock.advance(1);
        expect(await limiter.admit(rule, subject)).toMatchObject({ isAdmitted: true, remaining: 0, resetMs: 20_000 });
        expect(await limiter.admit(rule, subject)).toMatchObject({ isAdmitted: false, resetMs: 20_000 });
      },
    );

    test("frees all of many subjects at the same moment, whichever is checked first", async () => {
      const many = Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? `192.0.2.${index}` : `token ${index}`));
      for (const subject of many) expect(await admitTimes(10, byIp, subject)).toBe(10);
      clock.advance(30_000);
      for (const subject of ["198.51.100.1", "another token"]) await limiter.admit(byIp, subject);
      clock.advance(30_000);
      for (const subject of many.reverse()) {
        expect(await limiter.admit(byIp, subject)).toMatchObject({ remaining: 9, resetMs: minuteMs });
        expect(await admitTimes(12, byIp, subject)).toBe(9);
      }
    });

    test("never prolongs the wait of a client that keeps trying", async () => {
      await admitTimes(10, byIp, "192.0.2.1");
      for (let waitedMs = 0; waitedMs < minuteMs; waitedMs += 500) {
        expect(await limiter.admit(byIp, "192.0.2.1")).toMatchObject({
          isAdmitted: false,
          resetMs: minuteMs - waitedMs,
        });
        clock.advance(500);
      }
      expect(await admitTimes(12, byIp, "192.0.2.1")).toBe(10);
    });

    test("admits exactly the limit of many that ask at once", async () => {
      for (const subject of ["192.0.2.1", "2001:db8::/64", "a token"]) {
        const verdicts = await Promise.all(Array.from({ length: 200 }, () => limiter.admit(byToken, subject)));
        expect(verdicts.filter((verdict) => verdict.isAdmitted)).toHaveLength(30);
      }
    });

    test("remembers nothing after a silence of any length", async () => {
      // Among them the lengths at which counters of 16 and 32 bits come round.
      const silencesMs = [minuteMs, 2 ** 16, 2 ** 16 + 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 400 * 86_400_000];
      for (const silenceMs of silencesMs) {
        expect(await admitTimes(12, byIp, "192.0.2.1")).toBe(10);
        expect(await admitTimes(12, byIp, "a token")).toBe(10);
        clock.advance(silenceMs);
      }
    });

    test("takes whole milliseconds of a clock that has fractions", async () => {
      clock.advance(0.75);
      await admitTimes(10, byIp, "192.0.2.1");
      clock.advance(minuteMs - 1);
      expect(await limiter.admit(byIp, "192.0.2.1")).toMatchObject({ isAdmitted: false, resetMs: 1 });
      clock.advance(1);
      expect(await admitTimes(12, byIp, "192.0.2.1")).toBe(10);
    });

    describe("several windows at once", () => {
      const tight: RateRule = { name: "ip", limit: 2, windowMs: minuteMs };
      const wide: RateRule = { name: "ip", limit: 5, windowMs: minuteMs };
      const ask = (own: string, around: string) =>
        limiter.admitAll([
          { rule: tight, subject: own },
          { rule: wide, subject: around },
        ]);
      const kinds = [
        ["2001:db8:0:1::/64", "2001:db8:0:2::/64", "2001:db8:0:3::/64", "2001:db8::/56"],
        ["192.0.2.1", "192.0.2.2", "192.0.2.3", "a site"],
        ["one", "two", "three", "2001:db8::/48"],
      ] as const;

      test.each(kinds)("admit only what all of them admit: %s, %s, %s in %s", async (one, two, three, around) => {
        const verdicts = [];
        for (const own of [one, one, one, two, two, two, three, three]) {
          const { isAdmitted, remaining } = await ask(own, around);
          verdicts.push(isAdmitted ? remaining : "refused");
        }
        expect(verdicts).toEqual([1, 0, "refused", 1, 0, "refused", 0, "refused"]);
      });

      test.each(kinds)("are not occupied by what is refused: %s, %s, %s in %s", async (one, two, three, around) => {
        for (let i = 0; i < 20; i++) await ask(one, around);
        expect(await admitTimes(9, wide, around)).toBe(3);
        for (let i = 0; i < 20; i++) expect((await ask(two, around)).isAdmitted).toBe(false);
        for (const own of [two, three]) expect(await admitTimes(9, tight, own)).toBe(2);
      });

      test.each(kinds)(
        "tell how long to wait for the last of them: %s, %s, %s in %s",
        async (one, two, three, around) => {
          expect(await ask(one, around)).toEqual({ isAdmitted: true, rule: tight, remaining: 1, resetMs: minuteMs });
          clock.advance(10_000);
          for (const own of [one, two, two]) await ask(own, around);
          expect(await ask(three, around)).toEqual({ isAdmitted: true, rule: wide, remaining: 0, resetMs: 50_000 });
          expect(await ask(three, around)).toEqual({ isAdmitted: false, rule: wide, remaining: 0, resetMs: 50_000 });
          expect(await ask(two, around)).toEqual({ isAdmitted: false, rule: tight, remaining: 0, resetMs: minuteMs });
          clock.advance(50_000);
          expect((await ask(three, around)).isAdmitted).toBe(true);
          expect((await ask(two, around)).isAdmitted).toBe(false);
        },
      );

      test("asked in turn, are occupied before the last one refuses, which nothing occupies that they refuse", async () => {
        const verdicts = [];
        for (const [own, last] of [..."aab", ..."bccdd"].map((own) => [own, own === "c" ? "other" : "last"] as const)) {
          const places = [
            { rule: tight, subject: own },
            { rule: wide, subject: "around" },
          ] as const;
          const { first, second } = await limiter.admitInTurn(places, {
            rule: { ...tight, name: "token" },
            subject: last,
          });
          verdicts.push([first.isAdmitted, first.remaining, second?.isAdmitted ?? null, second?.remaining ?? null]);
        }
        expect(verdicts).toEqual([
          ...[
            [true, 1, true, 1],
            [true, 0, true, 0],
            [true, 1, false, 0],
            [true, 0, false, 0],
            [true, 0, true, 1],
          ],
          ...Array(3).fill([false, 0, null, null]),
        ]);
        expect(await admitTimes(9, { ...tight, name: "token" }, "other")).toBe(1);
      });

      test("admit exactly the least of the limits of many that ask at once", async () => {
        const verdicts = await Promise.all(
          Array.from({ length: 200 }, (_, index) =>
            ask(`2001:db8:0:${(index % 100).toString(16)}::/64`, "2001:db8::/56"),
          ),
        );
        expect(verdicts.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(5);
      });
    });

    for (const rule of rules) {
      test(`agrees with a plain list of times at random: ${rule.limit} in ${rule.windowMs} ms`, async () => {
        const random = createRandom(rule.limit * 7 + rule.windowMs);
        const admitted = new Map<string, number[]>();
        const calls = Math.max(3000, rule.limit * 12);
        for (let i = 0; i < calls; i++) {
          clock.advance(randomPauseMs(random, rule));
          const subject = random.pick(["192.0.2.1", "2001:db8::/56", "a token"]);
          const nowMs = clock.monotonicMs();
          const live = (admitted.get(subject) ?? []).filter((timeMs) => timeMs > nowMs - rule.windowMs);
          const isAdmitted = live.length < rule.limit;
          if (isAdmitted) live.push(nowMs);
          admitted.set(subject, live);
          expect(await limiter.admit(rule, subject)).toEqual({
            isAdmitted,
            rule,
            remaining: rule.limit - live.length,
            resetMs: (live[0] ?? nowMs) + rule.windowMs - nowMs,
          });
        }
      });
    }
  });
}

/** Mostly about as fast as the limit allows, with bursts, exact windows and long silences in between. */
function randomPauseMs(random: ReturnType<typeof createRandom>, rule: RateRule): number {
  const kind = random.below(100);
  if (kind < 40) return 0;
  if (kind < 97) return random.below(Math.ceil((2 * rule.windowMs) / (3 * rule.limit)) + 1);
  if (kind < 98) return rule.windowMs;
  if (kind < 99) return rule.windowMs - 1;
  return random.below(3 * rule.windowMs);
}
