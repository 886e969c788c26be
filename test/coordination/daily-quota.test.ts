import { describe, expect, test } from "bun:test";
import type { QuotaRefusal, Reservation } from "../../src/contracts/coordination.ts";
import { AppError } from "../../src/domain/errors.ts";
import { MemoryDailyQuota } from "../../src/engines/memory/coordination/daily-quota.ts";
import { toUtcDay } from "../../src/lib/clock.ts";
import { createRandom } from "../support/random.ts";

const noon = Date.UTC(2026, 0, 15, 12);
const hourMs = 3_600_000;
type Verdict = Reservation | QuotaRefusal;

/** Counts as a store keeps them, and how often they were read. */
function openLedger() {
  const durable = new Map<string, number>();
  const ledger = {
    reads: 0,
    failure: null as Error | null,
    set: (companionId: string, day: string, count: number) => durable.set(`${companionId} ${day}`, count),
    async countDay(companionId: string, day: string): Promise<number> {
      ledger.reads++;
      await null;
      if (ledger.failure) throw ledger.failure;
      return durable.get(`${companionId} ${day}`) ?? 0;
    },
    /** Adds a committed turn. */
    commit(companionId: string, reservation: Reservation): void {
      const key = `${companionId} ${reservation.day}`;
      durable.set(key, (durable.get(key) ?? 0) + 1);
      reservation.settle();
    },
  };
  return ledger;
}

function admittedOf(verdicts: readonly Verdict[]): Reservation[] {
  return verdicts.filter((verdict) => verdict.isAdmitted);
}

async function getReservation(verdict: Promise<Verdict>): Promise<Reservation> {
  const given = await verdict;
  if (!given.isAdmitted) throw new Error("refused");
  return given;
}

describe("the daily quota", () => {
  test("admits exactly one of 200 at once at 999 of 1000, and reads the store once", async () => {
    const ledger = openLedger();
    ledger.set("c", "2026-01-15", 999);
    const quota = new MemoryDailyQuota(ledger.countDay);
    const verdicts = await Promise.all(Array.from({ length: 200 }, () => quota.reserve("c", 1000, noon)));
    expect(admittedOf(verdicts)).toHaveLength(1);
    expect(ledger.reads).toBe(1);
    expect((await quota.reserve("c", 1000, noon)).isAdmitted).toBe(false);
    expect(ledger.reads).toBe(1);
  });

  test("reports how long the UTC day still lasts, at least a second", async () => {
    const quota = new MemoryDailyQuota(openLedger().countDay);
    const midnight = Date.UTC(2026, 0, 16);
    for (const [nowMs, seconds] of [
      [noon, 12 * 3600],
      [midnight - 1, 1],
      [midnight - 1001, 2],
      [midnight, 86_400],
    ] as const) {
      expect(await quota.reserve("c", 0, nowMs)).toEqual({
        isAdmitted: false,
        reason: "day_used_up",
        retryAfterSeconds: seconds,
      });
    }
  });

  test("gives a released reservation back, once", async () => {
    const quota = new MemoryDailyQuota(openLedger().countDay);
    const first = await getReservation(quota.reserve("c", 2, noon));
    await getReservation(quota.reserve("c", 2, noon));
    expect((await quota.reserve("c", 2, noon)).isAdmitted).toBe(false);
    for (let i = 0; i < 3; i++) first.release();
    expect((await quota.reserve("c", 2, noon)).isAdmitted).toBe(true);
    expect((await quota.reserve("c", 2, noon)).isAdmitted).toBe(false);
  });

  test("keeps counting what is settled, whatever is called afterwards", async () => {
    const quota = new MemoryDailyQuota(openLedger().countDay);
    const only = await getReservation(quota.reserve("c", 1, noon));
    only.settle();
    only.release();
    expect((await quota.reserve("c", 1, noon)).isAdmitted).toBe(false);
  });

  test("counts companions and days apart", async () => {
    const quota = new MemoryDailyQuota(openLedger().countDay);
    for (const [companionId, nowMs] of [
      ["c", noon],
      ["d", noon],
      ["c", noon + 24 * hourMs],
    ] as const) {
      expect((await quota.reserve(companionId, 1, nowMs)).isAdmitted).toBe(true);
      expect((await quota.reserve(companionId, 1, nowMs)).isAdmitted).toBe(false);
    }
  });

  test("holds a reservation to its own day when it ends after midnight", async () => {
    const ledger = openLedger();
    const quota = new MemoryDailyQuota(ledger.countDay);
    const late = await getReservation(quota.reserve("c", 1, noon + 12 * hourMs - 1));
    expect(late.day).toBe("2026-01-15");
    const early = await getReservation(quota.reserve("c", 1, noon + 12 * hourMs));
    expect(early.day).toBe("2026-01-16");
    late.release();
    expect((await quota.reserve("c", 1, noon + 12 * hourMs)).isAdmitted).toBe(false);
    // The clock is set back over midnight: the day before gets its place back, and no more.
    expect((await quota.reserve("c", 1, noon)).isAdmitted).toBe(true);
    expect((await quota.reserve("c", 1, noon)).isAdmitted).toBe(false);
  });

  test("follows the limit of the plan at the moment", async () => {
    const quota = new MemoryDailyQuota(openLedger().countDay);
    await quota.reserve("c", 1, noon);
    expect((await quota.reserve("c", 1, noon)).isAdmitted).toBe(false);
    expect((await quota.reserve("c", 2, noon)).isAdmitted).toBe(true);
  });

  test("goes on from the durable count after a restart", async () => {
    const ledger = openLedger();
    const before = new MemoryDailyQuota(ledger.countDay);
    for (let i = 0; i < 3; i++) ledger.commit("c", await getReservation(before.reserve("c", 5, noon)));
    await before.reserve("c", 5, noon); // was under way when the process ended
    const after = new MemoryDailyQuota(ledger.countDay);
    const verdicts = await Promise.all(Array.from({ length: 10 }, () => after.reserve("c", 5, noon)));
    expect(admittedOf(verdicts)).toHaveLength(2);
  });

  test("is unavailable to all that wait for a count that cannot be read, and reserves nothing", async () => {
    const ledger = openLedger();
    const quota = new MemoryDailyQuota(ledger.countDay);
    ledger.failure = new Error("disk I/O error at /var/lib");
    const verdicts = await Promise.allSettled(Array.from({ length: 5 }, () => quota.reserve("c", 2, noon)));
    for (const verdict of verdicts) {
      const reason = verdict.status === "rejected" ? verdict.reason : null;
      expect(reason).toBeInstanceOf(AppError);
      expect(reason).toMatchObject({ code: "unavailable", cause: ledger.failure });
      expect(String(reason)).not.toContain("disk");
    }
    expect(quota.size).toBe(0);
    ledger.failure = null;
    expect(admittedOf(await Promise.all([1, 2, 3].map(() => quota.reserve("c", 2, noon))))).toHaveLength(2);
  });

  test("treats a store that throws synchronously like one that rejects", async () => {
    const quota = new MemoryDailyQuota(() => {
      throw new Error("closed");
    });
    await expect(quota.reserve("c", 1, noon)).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("the daily quota's memory", () => {
  test("holds no more counts than allowed, and reads evicted ones again", async () => {
    const ledger = openLedger();
    const quota = new MemoryDailyQuota(ledger.countDay, 10);
    for (let i = 0; i < 500; i++) ledger.commit(`c${i}`, await getReservation(quota.reserve(`c${i}`, 2, noon)));
    expect(quota.size).toBeLessThanOrEqual(10);
    expect((await quota.reserve("c0", 2, noon)).isAdmitted).toBe(true);
    expect((await quota.reserve("c0", 2, noon)).isAdmitted).toBe(false);
    expect(ledger.reads).toBe(501);
  });

  test("evicts no count with open reservations", async () => {
    const ledger = openLedger();
    const quota = new MemoryDailyQuota(ledger.countDay, 10);
    const open: Reservation[] = [];
    for (let i = 0; i < 100; i++) open.push(await getReservation(quota.reserve(`c${i}`, 1, noon)));
    expect(quota.size).toBe(100);
    for (let i = 0; i < 100; i++) expect((await quota.reserve(`c${i}`, 1, noon)).isAdmitted).toBe(false);
    for (const reservation of open) reservation.release();
    expect(quota.size).toBeLessThanOrEqual(10);
  });

  test("drops days that are over", async () => {
    const ledger = openLedger();
    const quota = new MemoryDailyQuota(ledger.countDay);
    for (let i = 0; i < 100; i++) (await getReservation(quota.reserve(`c${i}`, 1, noon))).settle();
    for (let i = 0; i < 50; i++) (await getReservation(quota.reserve(`d${i}`, 1, noon + 24 * hourMs))).settle();
    expect(quota.size).toBe(50);
  });

  test("never admits too many, whatever is settled, released, forgotten and restarted in which order", async () => {
    const random = createRandom(8);
    const ledger = openLedger();
    const limit = 5;
    let quota = new MemoryDailyQuota(ledger.countDay, 2);
    let open: Array<{ companionId: string; reservation: Reservation }> = [];
    const committed = new Map<string, number>();
    /** Committed and open turns, by companion and day. */
    function countTaken(): Map<string, number> {
      const taken = new Map(committed);
      for (const { companionId, reservation } of open) add(taken, `${companionId} ${reservation.day}`);
      return taken;
    }
    let nowMs = noon;
    let refused = 0;
    for (let i = 0; i < 4000; i++) {
      nowMs += random.below(60) * 60_000;
      if (random.below(40) === 0) nowMs -= 6 * hourMs;
      const asked = Array.from({ length: random.below(4) }, () => random.pick(["a", "b", "c", "d"]));
      const verdicts = await Promise.all(asked.map((companionId) => quota.reserve(companionId, limit, nowMs)));
      const refusedKeys: string[] = [];
      for (const [index, companionId] of asked.entries()) {
        const verdict = verdicts[index];
        if (verdict?.isAdmitted) open.push({ companionId, reservation: verdict });
        else refusedKeys.push(`${companionId} ${toUtcDay(nowMs)}`);
      }
      const taken = countTaken();
      for (const count of taken.values()) expect(count).toBeLessThanOrEqual(limit);
      for (const key of refusedKeys) expect([key, taken.get(key)]).toEqual([key, limit]);
      refused += refusedKeys.length;
      for (const { companionId, reservation } of open.splice(0, random.below(4))) {
        if (random.below(3) === 0) {
          reservation.release();
        } else {
          ledger.commit(companionId, reservation);
          add(committed, `${companionId} ${reservation.day}`);
        }
      }
      if (random.below(200) === 0) {
        // A restart: open turns were never committed.
        quota = new MemoryDailyQuota(ledger.countDay, 2);
        open = [];
      }
    }
    expect(refused).toBeGreaterThan(100);
  });
});

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
