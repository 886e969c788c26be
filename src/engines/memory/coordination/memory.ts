/** The coordination engine for a single process: bounded and in memory, since what it tracks ends with the process. */
import {
  type Coordination,
  type Duties,
  type ErasureMarks,
  maxWaitingTurns,
  type Reservation,
  type TurnEntry,
  type TurnGate,
  type TurnTicket,
} from "../../../contracts/coordination.ts";
import { type Clock, toUtcDay } from "../../../lib/clock.ts";
import { createKeyedQueue, type Release } from "../../../lib/keyed-queue.ts";
import { type CountDay, type CountVisitorDay, createVisitorQuota, MemoryDailyQuota } from "./daily-quota.ts";
import { createErasureMarks } from "./erasure-marks.ts";
import { createSignInFailures } from "./sign-in-failures.ts";

export interface MemoryCoordinationOptions {
  clock: Pick<Clock, "nowMs" | "monotonicMs">;
  arrivals?: ErasureMarks;
  /** Read the durable counts of a companion's day. */
  countMessages: CountDay;
  countVisitorMessages: CountVisitorDay;
  countVoiceSessions: CountDay;
}

export interface MemoryCoordination extends Coordination {
  readonly arrivals: ErasureMarks;
}

export function createMemoryCoordination(options: MemoryCoordinationOptions): MemoryCoordination {
  const { clock, arrivals = createErasureMarks() } = options;
  const voiceSessions = new MemoryDailyQuota(options.countVoiceSessions);
  return {
    turns: createTurnGate(options),
    voiceSessions: { reserve: (companionId, limit) => voiceSessions.reserve(companionId, limit, clock.nowMs()) },
    arrivals,
    duties: { take: async () => true, exclude: createTakingTurns() },
    signInFailures: createSignInFailures(clock),
  };
}

function createTurnGate({ clock, countMessages, countVisitorMessages }: MemoryCoordinationOptions): TurnGate {
  const queue = createKeyedQueue({ maxWaiting: maxWaitingTurns });
  const messages = new MemoryDailyQuota(countMessages);
  const ofVisitors = createVisitorQuota(countVisitorMessages);

  /** What the turn takes of the day. Not async: most turns take a message of their companion's, and no more. */
  function reserve({ companionId, messagesPerDay, visitor }: TurnEntry) {
    const nowMs = clock.nowMs();
    if (messagesPerDay === null) return takeNothing(nowMs);
    const message = messages.reserve(companionId, messagesPerDay, nowMs);
    return visitor === null ? message : ofVisitors.reserveWith(message, { companionId, visitor }, nowMs);
  }

  return {
    async enter(entry, signal) {
      const { queueKey } = entry;
      const turn = queueKey === null ? waitsForNone : queue.enter(queueKey, signal);
      if (turn === null) return { isAdmitted: false, reason: "queue_full", retryAfterSeconds: 1 };
      const leaveQueue = await turn;
      try {
        const message = await reserve(entry);
        if (!message.isAdmitted) {
          leaveQueue();
          return message;
        }
        if (!signal.aborted) return new HeldTicket(message, leaveQueue);
        message.release();
        throw signal.reason;
      } catch (error) {
        leaveQueue();
        throw error;
      }
    },
    // There is no other instance.
    findElsewhere: async () => null,
    get waitingCount() {
      return queue.waitingCount;
    },
  };
}

/** A class, not closures: each running turn has one. */
class HeldTicket implements TurnTicket {
  readonly isAdmitted = true;
  readonly id = null;
  readonly #message: Reservation;
  readonly #leaveQueue: Release;

  constructor(message: Reservation, leaveQueue: Release) {
    this.#message = message;
    this.#leaveQueue = leaveQueue;
  }

  get day(): string {
    return this.#message.day;
  }

  settle(): void {
    this.#message.settle();
  }

  leave(): void {
    this.#message.release();
    this.#leaveQueue();
  }
}

function takeNothing(nowMs: number): Reservation {
  return { isAdmitted: true, id: null, day: toUtcDay(nowMs), settle() {}, release() {} };
}

/** All of one name run one after the other. */
function createTakingTurns(): Duties["exclude"] {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const run = (last.get(name) ?? Promise.resolve()).then(work);
    last.set(
      name,
      run.catch(() => {}),
    );
    return run;
  };
}

const waitsForNone = Promise.resolve(() => {});
