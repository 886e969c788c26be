/**
 * What all instances of a server must agree on besides the stored data: whose turn it is in a conversation,
 * what is left of a companion's daily quota, who failed to sign in, and what was erased while its reply was running.
 *
 * Engines: `memory.ts`, for a single process; a storage engine that several processes share brings its own, since only
 * the database knows in which order things were committed. `test/contracts/coordination.ts` tests every engine.
 *
 * Every member guarantees:
 * - A call that returns a promise takes at most one round trip. It rejects with `AppError("unavailable")` if the
 *   instances cannot agree; then nothing is acquired.
 * - Calls that one instance makes one after the other take effect in that order.
 * - What an instance holds is released within 10 s after it ends or loses contact with the others. Releasing
 *   therefore returns immediately and cannot fail: a release that does not arrive happens the same way.
 * - Durations use the engine's own clock, which no instance's wall clock affects. Quota days are UTC days.
 */
import type { ConversationKey } from "../domain/conversation.ts";
import type { StopSignal } from "../lib/stop-signal.ts";

/**
 * Names a ticket or reservation that other instances see. It is handed to the store with what is settled, and ends in
 * that commit, so that nothing is counted twice. Null where memory coordinates.
 */
export type TicketId = string | null;

/**
 * One message or voice session of a companion's daily quota. Ends with one of its two calls; only the first call has
 * an effect.
 */
export interface Reservation {
  readonly isAdmitted: true;
  readonly id: TicketId;
  /** The UTC day that it counts towards, even if it ends after midnight. */
  readonly day: string;
  /**
   * Keeps it counted. Call this once it is durable, or if that is unknown: from then on the durable count may be read
   * again.
   */
  settle(): void;
  /** Releases it: nothing was or will be stored for it. */
  release(): void;
}

export interface QuotaRefusal {
  readonly isAdmitted: false;
  readonly reason: "day_used_up" | "visitor_day_used_up";
  /** Until the next UTC midnight; at least 1. */
  readonly retryAfterSeconds: number;
}

export interface DailyQuota {
  /**
   * Takes one of the `limit` of the companion's current UTC day. However many concurrent calls there are, at any
   * instance, reservations and settled ones together never exceed the limit.
   */
  reserve(companionId: string, limit: number): Promise<Reservation | QuotaRefusal>;
}

/** Turns that may wait in one conversation, not counting the running one. */
export const maxWaitingTurns = 3;

export interface TurnEntry {
  companionId: string;
  /** Turns with the same key run one at a time, in the order of their calls. Null: it does not queue. */
  queueKey: string | null;
  /**
   * Messages that the companion may answer per UTC day. Null: the turn takes none, because it runs again, or is no
   * message.
   */
  messagesPerDay: number | null;
  /**
   * For a visitor with a daily limit of their own; it holds besides the companion's, and ends with the same calls. Null
   * where `messagesPerDay` is.
   */
  visitor: { readonly id: string; readonly messagesPerDay: number } | null;
  /** The client's name for the message, under which other instances find the turn. */
  messageId: string | null;
}

/** The right to run one turn: its position in the queue, and one message of the companion's daily quota. */
export interface TurnTicket {
  readonly isAdmitted: true;
  readonly id: TicketId;
  /** As in `Reservation`. */
  readonly day: string;
  /** Keeps the message counted, as in `Reservation`. The position in the queue stays occupied. */
  settle(): void;
  /**
   * Admits the next turn, and refunds the message unless it was settled. Every ticket must end with this call;
   * further calls do nothing.
   */
  leave(): void;
}

export interface QueueRefusal {
  readonly isAdmitted: false;
  readonly reason: "queue_full";
  readonly retryAfterSeconds: number;
}

/** The same message of the same conversation runs or waits at another instance. */
export interface ElsewhereRefusal {
  readonly isAdmitted: false;
  readonly reason: "runs_elsewhere";
}

export interface TurnGate {
  /**
   * Joins the queue, and resolves when it is the turn's time and a message has been reserved for it, by the rules of
   * `DailyQuota`. Refuses immediately with `queue_full` if `maxWaitingTurns` are waiting already; otherwise with
   * `day_used_up` if the quota is used up, or `visitor_day_used_up` if the visitor's is. With `runs_elsewhere` if a turn
   * of the same `queueKey` and `messageId` has a ticket already; the caller prevents that within its own instance. A
   * refused turn holds nothing.
   *
   * Rejects with the signal's reason if the signal fires before that: then the turn holds nothing, and those behind it
   * move up. A signal that fires later has no effect.
   */
  enter(entry: TurnEntry, signal: StopSignal): Promise<TurnTicket | QueueRefusal | QuotaRefusal | ElsewhereRefusal>;
  /**
   * Where another instance runs the turn, or lets it wait: its URL, or null if that is not known. Null if none does. A
   * turn that was settled is found in the store by then.
   */
  findElsewhere(queueKey: string, messageId: string): Promise<{ readonly url: string | null } | null>;
  /** Turns waiting at this instance. */
  readonly waitingCount: number;
}

/** A position in the sequence of erasures, not a time; only its engine can interpret it. */
export type ArrivalMark = number | string;

export interface Arrivals {
  /**
   * Take one when a message arrives, before waiting for anything, and pass it to the store when its turn is settled:
   * what was erased in between must not come back. Synchronous, since every message takes one.
   */
  mark(): ArrivalMark;
}

/** For store engines that keep no record of erasures themselves: they note and check them inside their commits. */
export interface ErasureMarks extends Arrivals {
  mark(): number;
  /** Notes the erasure of all messages of this visitor to the companion. */
  noteVisitor(companionId: string, visitorId: string): void;
  noteConversation(key: ConversationKey): void;
  /**
   * Whether what arrived at that mark has been erased since. True if in doubt: losing a turn is better than keeping an
   * erased one.
   */
  cover(key: ConversationKey, arrivalMark: ArrivalMark): boolean;
}

/**
 * What is counted together: failures of one client on an account, of all clients on an account, and of second-factor
 * codes on an account.
 */
export type SignInFailureKind = "client" | "account" | "code";

export interface SignInFailure {
  /** The subject's failures within the hour, including this one. */
  readonly count: number;
  /** Undoes the failure, and its effect on the wait. Call this at most once. */
  takeBack(): void;
}

/**
 * Failed sign-ins, forgotten an hour after the subject's last one. Bounded: the least recent are evicted.
 *
 * Unlike the others, these calls never reject: an instance that has lost contact counts on its own meanwhile. An engine
 * beside the rest is `engines/redis/sign-in-failures.ts`; `test/contracts/sign-in-failures.ts` tests each.
 */
export interface SignInFailures {
  count(kind: SignInFailureKind, subject: string): Promise<number>;
  /** Notes a failure. */
  add(kind: SignInFailureKind, subject: string): Promise<SignInFailure>;
  /**
   * Checks earlier failures and notes this one in a single step. A subject with `free` failures or more must wait one
   * second after the last, doubled with each further failure, up to a quarter of an hour. While it must wait, nothing
   * is noted, and `waitMs` is the time left.
   */
  addUnlessWaiting(
    kind: SignInFailureKind,
    subject: string,
    free: number,
  ): Promise<SignInFailure | { readonly waitMs: number }>;
  /** Forgets the subject's failures. */
  clear(kind: SignInFailureKind, subject: string): void;
}

/** Work that one instance does for all. */
export type Duty = "jobs" | "set_up_link" | "embeddings" | "certificates";

export interface Duties {
  /**
   * Whether this instance has the duty, which it takes if no other that runs has it, and keeps as long as it runs.
   * An instance that asks before each piece of work takes over from one that has ended.
   */
  take(duty: Duty): Promise<boolean>;
  /**
   * Runs `work` while no other instance runs work of the same name; waits for up to 30 s, then rejects with
   * `unavailable`. For short work that decides by what it finds, such as making something unless it is there.
   */
  exclude<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
}

export interface Coordination {
  readonly turns: TurnGate;
  readonly voiceSessions: DailyQuota;
  readonly arrivals: Arrivals;
  readonly duties: Duties;
  readonly signInFailures: SignInFailures;
}
