/** The days of visitors with a limit of their own, which holds besides their companion's. */
import type { QuotaRefusal, Reservation, TurnEntry } from "../../../contracts/coordination.ts";
import { MemoryDailyQuota } from "./daily-quota.ts";

/** Reads the durable count of a verified visitor's day with the companion. */
export type CountVisitorDay = (companionId: string, visitorId: string, day: string) => Promise<number>;

export interface VisitorQuota {
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

export function createVisitorQuota(countMessages: CountVisitorDay): VisitorQuota {
  // Held only as long as a message of theirs is under way: an erasure takes the durable count, and must not be outlived.
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
