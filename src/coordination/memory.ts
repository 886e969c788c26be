/** The coordination engine for a single process: bounded and in memory, since what it tracks ends with the process. */
import type { Clock } from "../lib/clock.ts";
import { createKeyedQueue } from "../lib/keyed-queue.ts";
import { type Coordination, type Duties, type ErasureMarks, maxWaitingTurns, type TurnGate } from "./coordination.ts";
import { type CountDay, MemoryDailyQuota } from "./daily-quota.ts";
import { createErasureMarks } from "./erasure-marks.ts";
import { createSignInFailures } from "./sign-in-failures.ts";
import { type CountVisitorDay, createTurnQuota, type TurnQuota } from "./turn-quota.ts";

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
    turns: createTurnGate(clock, createTurnQuota(options)),
    voiceSessions: { reserve: (companionId, limit) => voiceSessions.reserve(companionId, limit, clock.nowMs()) },
    arrivals,
    duties: { take: async () => true, exclude: createTakingTurns() },
    signInFailures: createSignInFailures(clock),
  };
}

function createTurnGate(clock: Pick<Clock, "nowMs">, quota: TurnQuota): TurnGate {
  const queue = createKeyedQueue({ maxWaiting: maxWaitingTurns });
  return {
    async enter(entry, signal) {
      const { queueKey } = entry;
      const place = queueKey === null ? waitsForNone : queue.enter(queueKey, signal);
      if (place === null) return { isAdmitted: false, reason: "queue_full", retryAfterSeconds: 1 };
      const leaveQueue = await place;
      try {
        const message = await quota.reserve(entry, clock.nowMs());
        if (!message.isAdmitted) {
          leaveQueue();
          return message;
        }
        const leave = () => {
          message.release();
          leaveQueue();
        };
        if (!signal.aborted) return { isAdmitted: true, id: null, day: message.day, settle: message.settle, leave };
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
