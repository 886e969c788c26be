/**
 * Socket 5: what all instances of a server must agree on beside what the store keeps: whose turn it is in a
 * conversation, what is left of a companion's day, who failed to sign in, and what was erased while it was being
 * answered.
 *
 * Engines: `memory.ts`, for one process on the data. `test/contracts/coordination.ts` proves any other.
 *
 * What holds for every member:
 * - A call that returns a promise is one round trip at most. It rejects with `AppError("unavailable")` where the
 *   instances cannot agree; nothing is taken then.
 * - Calls that one instance makes one after the other take effect in that order.
 * - What an instance holds comes free within 10 s when it has ended or was cut off from the others. Giving back
 *   therefore returns at once and cannot fail: what does not arrive comes free in the same way.
 * - Durations count by the engine's own clock, which no instance's wall clock changes. The days of quotas are UTC days.
 */
import type { ConversationKey } from "../domain/conversation.ts";
import type { StopSignal } from "../lib/stop-signal.ts";

/**
 * One message or voice session of a companion's day. Ends in one of its two calls; of both, only the first has an
 * effect.
 */
export interface Reservation {
  readonly isAdmitted: true;
  /** The UTC day under which it is to be settled, even if it ends after midnight. */
  readonly day: string;
  /**
   * It stays counted. To be called once it is durable, or where it is not known whether it is: from then on the durable
   * count may be read anew.
   */
  settle(): void;
  /** Gives it back: nothing was, or will be, made durable for it. */
  release(): void;
}

export interface QuotaRefusal {
  readonly isAdmitted: false;
  readonly reason: "day_used_up";
  /** Until the next UTC midnight; at least 1. */
  readonly retryAfterSeconds: number;
}

export interface DailyQuota {
  /**
   * Takes one out of the `limit` of the companion's present UTC day. However many ask at once, at any instance, no more
   * than the limit are ever reserved and settled together.
   */
  reserve(companionId: string, limit: number): Promise<Reservation | QuotaRefusal>;
}

/** Turns that may wait in one conversation, beside the one that is in. */
export const maxWaitingTurns = 3;

export interface TurnEntry {
  companionId: string;
  /** Turns with the same one follow one another, in the order of their calls. Null: it waits for none. */
  queueKey: string | null;
  /** Messages that the companion may answer on one UTC day. */
  messagesPerDay: number;
}

/** The right to run one turn: its place, and one message of the companion's day. */
export interface TurnTicket {
  readonly isAdmitted: true;
  /** As in `Reservation`. */
  readonly day: string;
  /** The message stays counted, as in `Reservation`. The place is still taken. */
  settle(): void;
  /**
   * Lets the next turn in, and gives the message back unless it was settled. Every ticket must end with it; further
   * calls do nothing.
   */
  leave(): void;
}

export interface QueueRefusal {
  readonly isAdmitted: false;
  readonly reason: "queue_full";
  readonly retryAfterSeconds: number;
}

export interface TurnGate {
  /**
   * Takes a place in the queue, and resolves when the turn has come and a message was taken for it, by the rules of
   * `DailyQuota`. Refused with `queue_full`, without waiting, where `maxWaitingTurns` wait already; only then with
   * `day_used_up`. A refused turn holds nothing.
   *
   * Rejects with the signal's reason if it fires before that: the turn holds nothing then, and whoever waits behind it
   * moves up. A signal that fires later changes nothing.
   */
  enter(entry: TurnEntry, signal: StopSignal): Promise<TurnTicket | QueueRefusal | QuotaRefusal>;
  /** Turns that wait at this instance. */
  readonly waitingCount: number;
}

/** Stands for a moment among the erasures; only its engine can read it. Not a time. */
export type ArrivalMark = number;

export interface Arrivals {
  /**
   * To be taken when a message comes, before anything waits, and given to the store when its turn is settled: what was
   * erased in between must not come back. At once, since every message takes one.
   */
  mark(): ArrivalMark;
}

/** What a store engine is given that keeps no erasures of its own: it notes them, and asks, inside of its commits. */
export interface ErasureMarks extends Arrivals {
  /** All that this visitor said to the companion. */
  noteVisitor(companionId: string, visitorId: string): void;
  noteConversation(key: ConversationKey): void;
  /**
   * Whether what arrived at that mark has been erased since. In doubt it has: better to lose a turn than to store an
   * erased one.
   */
  cover(key: ConversationKey, arrivalMark: ArrivalMark): boolean;
}

/**
 * What is counted together: of one client on one account, of all clients on an account, and codes of the second factor
 * on an account.
 */
export type SignInFailureKind = "client" | "account" | "code";

export interface SignInFailure {
  /** Failures of the subject within the hour, this one included. */
  readonly count: number;
  /** It was no failure after all: count and wait are as if it had not been. To be called once at most. */
  takeBack(): void;
}

/** Failed attempts to sign in, forgotten an hour after the subject's last one. Bounded: the least recent leave. */
export interface SignInFailures {
  count(kind: SignInFailureKind, subject: string): Promise<number>;
  /** Notes a failure. */
  add(kind: SignInFailureKind, subject: string): Promise<SignInFailure>;
  /**
   * Checks and notes in one step. A subject with `free` failures or more must wait for a second after the last one,
   * twice as long for each further one, a quarter of an hour at most. While it must wait nothing is noted, and `waitMs`
   * is the time left.
   */
  addUnlessWaiting(
    kind: SignInFailureKind,
    subject: string,
    free: number,
  ): Promise<SignInFailure | { readonly waitMs: number }>;
  /** Forgets the subject's. */
  clear(kind: SignInFailureKind, subject: string): void;
}

export interface Coordination {
  readonly turns: TurnGate;
  readonly voiceSessions: DailyQuota;
  readonly arrivals: Arrivals;
  readonly signInFailures: SignInFailures;
}
