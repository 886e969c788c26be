/** Whose turn it is, at any server of the database. */
import type {
  ElsewhereRefusal,
  QueueRefusal,
  QuotaRefusal,
  TurnEntry,
  TurnGate,
  TurnTicket,
} from "../../../contracts/coordination.ts";
import { type Clock, secondsToMidnight } from "../../../lib/clock.ts";
import { createKeyedQueue } from "../../../lib/keyed-queue.ts";
import type { StopSignal } from "../../../lib/stop-signal.ts";
import { unavailable } from "../failures.ts";
import type { Ticket } from "./ticket-endings.ts";
import type { TicketRequest, Tickets } from "./tickets.ts";
import type { Admission, WaitingTurns } from "./waiting-turns.ts";

export interface TurnGateOptions {
  clock: Pick<Clock, "nowMs">;
  tickets: Tickets;
  waiting: WaitingTurns;
}

/** Calls of one conversation that wait for an answer of PostgreSQL; far more than it admits. */
const maxCalls = 100;
const patienceMs = 4_500;

export function createTurnGate({ clock, tickets, waiting }: TurnGateOptions): TurnGate {
  /** PostgreSQL numbers tickets as they come, over several connections: one question at a time for a conversation. */
  const calls = createKeyedQueue({ maxWaiting: maxCalls });
  /** Calls and tickets of this server, by conversation. */
  const here = new Map<string, number>();
  let waitingCount = 0;

  function countHere(queueKey: string | null, change: 1 | -1): number {
    if (queueKey === null) return 0;
    const before = here.get(queueKey) ?? 0;
    if (before + change === 0) here.delete(queueKey);
    else here.set(queueKey, before + change);
    return before;
  }

  function refuse(verdict: Exclude<Admission["verdict"], "run">): QueueRefusal | QuotaRefusal | ElsewhereRefusal {
    if (verdict === "queue_full") return { isAdmitted: false, reason: verdict, retryAfterSeconds: 1 };
    if (verdict === "runs_elsewhere") return { isAdmitted: false, reason: verdict };
    return { isAdmitted: false, reason: verdict, retryAfterSeconds: secondsToMidnight(clock.nowMs()) };
  }

  function admit(ticket: Ticket, day: string): TurnTicket {
    let hasLeft = false;
    return {
      isAdmitted: true,
      id: ticket.id,
      day,
      // The commit that kept the message has ended the ticket.
      settle() {},
      leave() {
        if (hasLeft) return;
        hasLeft = true;
        countHere(ticket.queueKey, -1);
        tickets.end(ticket);
      },
    };
  }

  /** Asks for a ticket, after those that were asked for before. Null if too many are. */
  async function ask(
    request: TicketRequest,
    signal: StopSignal,
  ): Promise<Awaited<ReturnType<Tickets["enter"]>> | null> {
    if (request.queueKey === null) return await tickets.enter(request);
    const untilMs = performance.now() + patienceMs;
    const turn = calls.enter(request.queueKey, signal);
    if (turn === null) return null;
    const release = await turn;
    try {
      // Those before it had no answer; it must not wait as long again.
      if (performance.now() > untilMs) throw unavailable();
      return await tickets.enter(request);
    } finally {
      release();
    }
  }

  async function enter(request: TicketRequest, signal: StopSignal, noteWaiting: () => void) {
    const asked = await ask(request, signal);
    if (asked === null) return refuse("queue_full");
    const { ticket, verdict, day } = asked;
    let admission: Admission;
    if (verdict === "wait") {
      noteWaiting();
      admission = await waiting.wait(ticket, request, signal);
    } else admission = { verdict, day };
    if (admission.verdict !== "run") return refuse(admission.verdict);
    if (!signal.aborted) return admit(ticket, admission.day);
    tickets.end(ticket);
    throw signal.reason;
  }

  return {
    async enter(entry: TurnEntry, signal) {
      const { queueKey } = entry;
      if (signal.aborted) throw signal.reason;
      let isCounted = false;
      const noteWaiting = () => {
        if (!isCounted) waitingCount++;
        isCounted = true;
      };
      if (countHere(queueKey, 1) > 0) noteWaiting();
      let isIn = false;
      try {
        const verdict = await enter(toRequest(entry), signal, noteWaiting);
        isIn = verdict.isAdmitted;
        return verdict;
      } finally {
        if (isCounted) waitingCount--;
        if (!isIn) countHere(queueKey, -1);
      }
    },
    findElsewhere: (queueKey, messageId) => tickets.findElsewhere(queueKey, messageId),
    get waitingCount() {
      return waitingCount;
    },
  };
}

function toRequest({ companionId, queueKey, messagesPerDay, visitor, messageId }: TurnEntry): TicketRequest {
  const isCounted = messagesPerDay !== null;
  const kind = isCounted ? "message" : "uncounted";
  return { companionId, kind, queueKey, perDay: messagesPerDay, visitor: isCounted ? visitor : null, messageId };
}
