/** Messages, or voice sessions, a day for each companion: reservations in memory on top of the durable count. */
import { AppError } from "../domain/errors.ts";
import { toUtcDay } from "../lib/clock.ts";
import { type RecencyLinks, RecencyList } from "../lib/recency-list.ts";

export interface QuotaReservation {
  readonly isAdmitted: true;
  /** The UTC day of admission, under which it is to be settled even if it ends after midnight. */
  readonly day: string;
  /** Gives it back: nothing was, or will be, made durable for it. */
  release(): void;
  /**
   * It stays counted. To be called once it is durable, or where it is not known whether it is: from then on the durable
   * count may be read anew. Of both, only the first call has an effect.
   */
  settle(): void;
}

export interface QuotaRefusal {
  readonly isAdmitted: false;
  /** Until the next UTC midnight; at least 1. */
  readonly retryAfterSeconds: number;
}

export interface DailyQuota {
  /**
   * Takes one out of the `limit` of the UTC day of `nowMs`. However many ask at once, no more than the limit
   * are ever reserved and settled together. `unavailable` where the durable count cannot be read: nothing is reserved.
   * Every reservation must end in one of its two calls.
   */
  reserve(companionId: string, limit: number, nowMs: number): Promise<QuotaReservation | QuotaRefusal>;
  /** Counts held now: at most the capacity, or as many as have reservations under way where these are more. */
  readonly size: number;
}

export interface DailyQuotaOptions {
  /** What is durable of the companion for the day. */
  countDay: (companionId: string, day: string) => Promise<number>;
  /** Counts kept without reservations under way, so that they need not be read again. */
  capacity?: number;
}

/** Memory is the authority while a count is held, so there must be one process on the data. */
export function createDailyQuota(options: DailyQuotaOptions): DailyQuota {
  return new MemoryDailyQuota(options.countDay, options.capacity ?? 10_000);
}

/** The same, but a refusal rejects with `quota_exceeded`. `spent` says what the companion did with its day: "answered all its messages". */
export async function reserveOrReject(
  quota: DailyQuota,
  companionId: string,
  { limit, nowMs, spent }: { limit: number; nowMs: number; spent: string },
): Promise<QuotaReservation> {
  const verdict = await quota.reserve(companionId, limit, nowMs);
  if (verdict.isAdmitted) return verdict;
  throw new AppError("quota_exceeded", `This companion has ${spent} for today. Try again tomorrow.`, {
    retryAfterSeconds: verdict.retryAfterSeconds,
  });
}

/** One companion's day. What is durable enters `used` once, when it is read; later ones entered it as reservations. */
interface DayCount extends RecencyLinks<DayCount> {
  readonly name: string;
  readonly day: string;
  /** Null until it was read. */
  used: number | null;
  readonly reading: Promise<number>;
  /** Reservations under way, and calls that are about to make one: only a count without any may be forgotten. */
  holders: number;
}

class MemoryDailyQuota implements DailyQuota {
  readonly #countDay: DailyQuotaOptions["countDay"];
  readonly #capacity: number;
  readonly #counts = new Map<string, DayCount>();
  /** Those that nobody holds. */
  readonly #idle = new RecencyList<DayCount>();
  #latestDay = "";

  constructor(countDay: DailyQuotaOptions["countDay"], capacity: number) {
    this.#countDay = countDay;
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#counts.size;
  }

  async reserve(companionId: string, limit: number, nowMs: number): Promise<QuotaReservation | QuotaRefusal> {
    const day = toUtcDay(nowMs);
    if (day > this.#latestDay) this.#latestDay = day;
    const count = this.#hold(companionId, day);
    try {
      const durable = count.used ?? (await count.reading);
      // Others that waited for the same reading may have gone first.
      const used = count.used ?? durable;
      count.used = used;
      if (used >= limit) {
        this.#letGo(count);
        return { isAdmitted: false, retryAfterSeconds: secondsToMidnight(nowMs) };
      }
      count.used = used + 1;
    } catch (cause) {
      this.#forget(count);
      throw new AppError("unavailable", "What was used today cannot be counted right now. Try again shortly.", {
        cause,
      });
    }
    return this.#makeReservation(count);
  }

  #hold(companionId: string, day: string): DayCount {
    const name = `${day} ${companionId}`;
    const known = this.#counts.get(name);
    if (known) {
      if (known.holders === 0) this.#idle.remove(known);
      known.holders++;
      return known;
    }
    const reading = this.#read(companionId, day);
    const count: DayCount = { name, day, used: null, reading, holders: 1, newer: null, older: null };
    this.#counts.set(name, count);
    this.#trim();
    return count;
  }

  /** Async, so that a store that throws at once is no different. */
  async #read(companionId: string, day: string): Promise<number> {
    return this.#countDay(companionId, day);
  }

  #letGo(count: DayCount): void {
    count.holders--;
    if (count.holders > 0) return;
    this.#idle.add(count);
    this.#trim();
  }

  /** What could not be read has no reservations; whoever comes next reads again. */
  #forget(count: DayCount): void {
    if (this.#counts.get(count.name) === count) this.#counts.delete(count.name);
  }

  /** Days that are over go first: nothing is reserved on them any more, unless the clock is set back. */
  #trim(): void {
    for (let i = 0; i < 4; i++) {
      const { oldest } = this.#idle;
      if (oldest === null || (oldest.day === this.#latestDay && this.#counts.size <= this.#capacity)) return;
      this.#idle.remove(oldest);
      this.#counts.delete(oldest.name);
    }
  }

  #makeReservation(count: DayCount): QuotaReservation {
    let isOpen = true;
    const close = (givenBack: number) => {
      if (!isOpen) return;
      isOpen = false;
      if (count.used !== null) count.used -= givenBack;
      this.#letGo(count);
    };
    return { isAdmitted: true, day: count.day, release: () => close(1), settle: () => close(0) };
  }
}

const dayMs = 86_400_000;

function secondsToMidnight(nowMs: number): number {
  return Math.max(1, Math.ceil((dayMs - (nowMs % dayMs)) / 1000));
}
