/**
 * The daily quota of messages or voice sessions per companion: reservations in memory on top of the durable count.
 * Memory is authoritative while a count is held, so only one process may serve the data.
 */
import type { QuotaRefusal, Reservation, TurnEntry } from "../../../contracts/coordination.ts";
import { AppError } from "../../../domain/errors.ts";
import { secondsToMidnight, toUtcDay } from "../../../lib/clock.ts";
import { type RecencyLinks, RecencyList } from "../../../lib/recency-list.ts";

/** Reads the companion's durable count for the day. */
export type CountDay = (companionId: string, day: string) => Promise<number>;

/** One companion's day. `used` starts with the durable count, read once; after that, reservations add to it. */
interface DayCount extends RecencyLinks<DayCount> {
  readonly name: string;
  readonly day: string;
  /** Null until it has been read. */
  used: number | null;
  readonly reading: Promise<number>;
  /** Open reservations, and calls about to make one: a count may only be forgotten without any. */
  holders: number;
}

export class MemoryDailyQuota {
  readonly #countDay: CountDay;
  readonly #capacity: number;
  readonly #counts = new Map<string, DayCount>();
  /** Counts without open reservations. */
  readonly #idle = new RecencyList<DayCount>();
  #latestDay = "";

  /** `capacity`: how many counts to keep without open reservations, so that they need not be read again. */
  constructor(countDay: CountDay, capacity = 10_000) {
    this.#countDay = countDay;
    this.#capacity = capacity;
  }

  /** Counts held now: at most the capacity, or the number with open reservations if that is higher. */
  get size(): number {
    return this.#counts.size;
  }

  /** Throws `unavailable` if the durable count cannot be read: then nothing is reserved. */
  async reserve(companionId: string, limit: number, nowMs: number): Promise<Reservation | QuotaRefusal> {
    const day = toUtcDay(nowMs);
    if (day > this.#latestDay) this.#latestDay = day;
    const count = this.#hold(companionId, day);
    try {
      const durable = count.used ?? (await count.reading);
      // Others that waited for the same read may have gone first.
      const used = count.used ?? durable;
      count.used = used;
      if (used >= limit) {
        this.#letGo(count);
        return { isAdmitted: false, reason: "day_used_up", retryAfterSeconds: secondsToMidnight(nowMs) };
      }
      count.used = used + 1;
    } catch (cause) {
      this.#forget(count);
      throw new AppError("unavailable", "What was used today cannot be counted right now. Try again shortly.", {
        cause,
      });
    }
    return new HeldReservation(this, count);
  }

  /** Ends a reservation, and refunds so much of it. Only for itself. */
  close(count: DayCount, refunded: number): void {
    if (count.used !== null) count.used -= refunded;
    this.#letGo(count);
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

  /** Async, so that a store that throws synchronously is handled the same way. */
  async #read(companionId: string, day: string): Promise<number> {
    return this.#countDay(companionId, day);
  }

  #letGo(count: DayCount): void {
    count.holders--;
    if (count.holders > 0) return;
    this.#idle.add(count);
    this.#trim();
  }

  /** A count that could not be read has no reservations; the next call reads it again. */
  #forget(count: DayCount): void {
    if (this.#counts.get(count.name) === count) this.#counts.delete(count.name);
  }

  /** Evicts past days first: nothing is reserved on them any more, unless the clock is set back. */
  #trim(): void {
    for (let i = 0; i < 4; i++) {
      const { oldest } = this.#idle;
      if (oldest === null || (oldest.day === this.#latestDay && this.#counts.size <= this.#capacity)) return;
      this.#idle.remove(oldest);
      this.#counts.delete(oldest.name);
    }
  }
}

/** A class, not closures: each running turn has one. */
class HeldReservation implements Reservation {
  readonly isAdmitted = true;
  readonly id = null;
  readonly day: string;
  readonly #quota: MemoryDailyQuota;
  /** Null once it is closed. */
  #count: DayCount | null;

  constructor(quota: MemoryDailyQuota, count: DayCount) {
    this.day = count.day;
    this.#quota = quota;
    this.#count = count;
  }

  release(): void {
    this.#close(1);
  }

  settle(): void {
    this.#close(0);
  }

  #close(refunded: number): void {
    if (this.#count !== null) this.#quota.close(this.#count, refunded);
    this.#count = null;
  }
}

/** Reads the durable count of a verified visitor's day with the companion. */
export type CountVisitorDay = (companionId: string, visitorId: string, day: string) => Promise<number>;

interface VisitorQuota {
  /**
   * One message of the visitor's day, joined to one of their companion's that is reserved for the same moment: both or
   * none. Throws as `MemoryDailyQuota` does.
   */
  reserveWith(
    ofCompanion: Promise<Reservation | QuotaRefusal>,
    entry: Pick<TurnEntry, "companionId"> & { readonly visitor: NonNullable<TurnEntry["visitor"]> },
    nowMs: number,
  ): Promise<Reservation | QuotaRefusal>;
}

/** The days of visitors with a limit of their own, which holds besides their companion's. */
export function createVisitorQuota(countMessages: CountVisitorDay): VisitorQuota {
  // Held only as long as a message of theirs is under way: an erasure deletes the durable count, and must not be outlived.
  const days = new MemoryDailyQuota((name, day) => {
    const [companionId = "", visitorId = ""] = name.split(" ");
    return countMessages(companionId, visitorId, day);
  }, 0);
  return {
    async reserveWith(ofCompanion, { companionId, visitor }, nowMs) {
      const message = await ofCompanion;
      if (!message.isAdmitted) return message;
      const own = await days
        .reserve(`${companionId} ${visitor.id}`, visitor.messagesPerDay, nowMs)
        .catch((error: unknown) => {
          message.release();
          throw error;
        });
      if (own.isAdmitted) return join(message, own);
      message.release();
      return { ...own, reason: "visitor_day_used_up" };
    },
  };
}

function join(one: Reservation, other: Reservation): Reservation {
  return {
    ...{ isAdmitted: true, id: null, day: one.day },
    settle() {
      one.settle();
      other.settle();
    },
    release() {
      one.release();
      other.release();
    },
  };
}
