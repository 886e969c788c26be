/** What a turn takes of the day: one of the companion's messages, and one of its visitor's where they have a limit. */
import { toUtcDay } from "../lib/clock.ts";
import type { QuotaRefusal, Reservation, TurnEntry } from "./coordination.ts";
import { type CountDay, MemoryDailyQuota } from "./daily-quota.ts";

/** Reads the durable count of a verified visitor's day with the companion. */
export type CountVisitorDay = (companionId: string, visitorId: string, day: string) => Promise<number>;

export interface TurnQuota {
  /** Both or none, of the same day. Throws as `MemoryDailyQuota` does. */
  reserve(entry: TurnEntry, nowMs: number): Promise<Reservation | QuotaRefusal>;
}

export function createTurnQuota(count: { countMessages: CountDay; countVisitorMessages: CountVisitorDay }): TurnQuota {
  const companions = new MemoryDailyQuota(count.countMessages);
  // Held only as long as a message of theirs is under way: an erasure takes the durable count, and must not be outlived.
  const visitors = new MemoryDailyQuota((name, day) => {
    const [companionId = "", visitorId = ""] = name.split(" ");
    return count.countVisitorMessages(companionId, visitorId, day);
  }, 0);

  async function reserveBoth(
    ofCompanion: Promise<Reservation | QuotaRefusal>,
    name: string,
    limit: number,
    nowMs: number,
  ) {
    const message = await ofCompanion;
    if (!message.isAdmitted) return message;
    const own = await visitors.reserve(name, limit, nowMs).catch((error: unknown) => {
      message.release();
      throw error;
    });
    if (own.isAdmitted) return join(message, own);
    message.release();
    return { ...own, reason: "visitor_day_used_up" } as const;
  }

  return {
    reserve({ companionId, messagesPerDay, visitor }, nowMs) {
      if (messagesPerDay === null) return Promise.resolve(takeNothing(nowMs));
      const message = companions.reserve(companionId, messagesPerDay, nowMs);
      if (visitor === null) return message;
      return reserveBoth(message, `${companionId} ${visitor.id}`, visitor.messagesPerDay, nowMs);
    },
  };
}

function join(one: Reservation, other: Reservation): Reservation {
  return {
    ...one,
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

function takeNothing(nowMs: number): Reservation {
  return { isAdmitted: true, id: null, day: toUtcDay(nowMs), settle() {}, release() {} };
}
