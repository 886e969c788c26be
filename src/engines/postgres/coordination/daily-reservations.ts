/** The daily quota of voice sessions, at any server of the database: a reservation is a ticket that does not queue. */
import type { DailyQuota } from "../../../contracts/coordination.ts";
import { type Clock, secondsToMidnight } from "../../../lib/clock.ts";
import type { Tickets } from "./tickets.ts";

export function createDailyReservations(clock: Pick<Clock, "nowMs">, tickets: Tickets): DailyQuota {
  return {
    async reserve(companionId, limit) {
      const { ticket, verdict, day } = await tickets.enter({
        companionId,
        kind: "voice_session",
        queueKey: null,
        perDay: limit,
        visitor: null,
        messageId: null,
      });
      if (verdict !== "run") {
        return { isAdmitted: false, reason: "day_used_up", retryAfterSeconds: secondsToMidnight(clock.nowMs()) };
      }
      let isOpen = true;
      const close = () => {
        if (isOpen) tickets.end(ticket);
        isOpen = false;
      };
      // What is durable is counted without its ticket.
      return { isAdmitted: true, id: ticket.id, day, settle: close, release: close };
    },
  };
}
