/** What may be spent, and what is: budgets, what calls reserve and cost in them, and the operator's stops. */

import type { Budget, BudgetPeriod, BudgetState, BudgetSubject } from "../../domain/budget.ts";
import type { Cost } from "../../domain/money.ts";
import type { ReasoningEffort } from "../../domain/reasoning.ts";
import type { Answerer } from "../../domain/usage.ts";
import type { TicketId } from "../coordination.ts";
import type { Page, PageRequest } from "./page.ts";
import type { WriteContext } from "./write-context.ts";

export type NewBudget = Omit<Budget, "createdAt" | "updatedAt">;
export type BudgetPatch = Partial<Pick<Budget, "subject" | "limitMicros" | "period" | "action">>;

/** Is given what a change is made to, inside its transaction, and may throw: then nothing changes. */
export type BudgetCheck = (current: Budget) => void;

/** A call that is about to be made. */
export interface SpendingCall {
  /** Of the reservation. */
  id: string;
  accountId: string;
  companionId: string;
  /** As in usage: null for the dashboard. */
  keyId: string | null;
  /** Of the turn, which ends with the server that runs it; null for a voice session. */
  ticketId: TicketId | null;
  /** Of `spendingFactsOf`. */
  facts: readonly string[];
  /** UTC day under which it counts. */
  day: string;
  /** The dearest of those that may answer: usage names it if the call is settled at its worst case. */
  answerer: Answerer;
  /** What it costs at most, rounded up; null if unknown. */
  micros: number | null;
  /** Whether it outlives the process: a voice session, whose length is reported later. */
  isVoice: boolean;
  nowMs: number;
  /** From then on it is settled at its worst case. */
  dueAtMs: number;
}

/** A budget whose limit was just reached for the first time in its period. */
export interface ReachedBudget extends Pick<Budget, "id" | "action" | "period"> {
  accountId: string;
}

export type SpendingVerdict =
  | {
      readonly isAdmitted: true;
      /** False if no budget counts the call: nothing is held. */
      readonly isReserved: boolean;
    }
  | {
      readonly isAdmitted: false;
      /**
       * Of the budgets that have too little left for it, the one whose period ends last; null where only what calls under
       * way have reserved is in the way, which is released when they end.
       */
      readonly period: BudgetPeriod | null;
      readonly reached: readonly ReachedBudget[];
    };

/** What a settled call counts as in budgets. */
export interface Spend {
  /** As in `SpendingCall`. What was reserved for keeps the facts that it had then. */
  facts: readonly string[];
  /** Ends in the same commit; null for a call without one. It does not matter if it was gone before. */
  reservationId: string | null;
  /** When the reply ended. */
  atMs: number;
}

export interface SpendingStop {
  /** Null for everyone. */
  accountId: string | null;
  stoppedAt: number;
}

/** A model, an effort and a voice that companions of an account have, and how little those ask for that have them. */
export interface CompanionChoice {
  /** Null for the operator's own. */
  model: string | null;
  reasoningEffort: ReasoningEffort | null;
  hasVoice: boolean;
  /** The least that one of them has set; null if none has. */
  maxOutputTokens: number | null;
  /** UTF-8 bytes of the shortest system prompt. */
  promptBytes: number;
}

/**
 * A budget counts a call if all its own facts are among the call's. One on a key counts the calls of the keys that it
 * created, that those created, and so on; and of every key that replaced a key, or that it replaced. What a
 * call costs is added to every budget that counts it, in the commit that settles it, and in the period of the day on
 * which it was admitted.
 */
export interface SpendingStore {
  /**
   * Makes a budget, which has seen what usage has recorded of its subject since its period began, and holds what calls
   * under way have reserved: nothing is missed or counted twice, even if calls settle meanwhile. Rejects with
   * `limit_reached`, and writes nothing, if the account has `maxBudgets`. Audit: `budget.create`.
   */
  createBudget(accountId: string, budget: NewBudget, context: WriteContext): Promise<BudgetState>;
  /** With what they have seen in the period of `nowMs`; newest first. */
  listBudgets(accountId: string, page: PageRequest, nowMs: number): Promise<Page<BudgetState>>;
  findBudget(accountId: string, id: string, nowMs: number): Promise<BudgetState | null>;
  /**
   * Sets the given fields, and `updatedAt`, which is another one each time. With another subject or period it counts
   * from zero, as a new budget does. A limit that was not reached so far can be reached again. Null if absent. Audit:
   * `budget.update` with the names of the fields.
   */
  updateBudget(
    accountId: string,
    id: string,
    patch: BudgetPatch,
    context: WriteContext,
    check?: BudgetCheck,
  ): Promise<BudgetState | null>;
  /** False if absent. Audit: `budget.delete`. */
  deleteBudget(accountId: string, id: string, context: WriteContext, check?: BudgetCheck): Promise<boolean>;
  /** What usage has recorded of a subject since the period of `nowMs` began. */
  sumSpent(accountId: string, subject: BudgetSubject, period: BudgetPeriod, nowMs: number): Promise<Cost>;
  /** The account's budgets that count a call with these facts. */
  listMatching(accountId: string, facts: readonly string[]): Promise<Budget[]>;
  /** The ids of the keys whose calls a budget on this one counts, its own among them. */
  listCountedKeys(keyId: string): Promise<string[]>;
  /** Whether any account has a budget that stops calls. */
  hasStopBudgets(): Promise<boolean>;
  /** What the companions have whose calls the subject counts, each combination of model, effort and voice once. */
  listChoices(accountId: string, subject: BudgetSubject): Promise<CompanionChoice[]>;

  /**
   * Holds what the call may cost in every budget that counts it, or refuses it and holds nothing: where a `stop` budget
   * would be exceeded by what is spent, reserved and asked for together, or where the call's cost is unknown. A limit
   * is reached by what is spent alone, or by a call for which that leaves too little. Exact, however many calls come at
   * the same time, at however many servers. Resolves once durable.
   */
  reserve(call: SpendingCall): Promise<SpendingVerdict>;
  /** Nothing was spent. It does not matter if the reservation is gone, or never was. */
  release(id: string): Promise<void>;
  /**
   * Settles up to `limit` reservations that are due at their worst case, as a cost in usage without a message; returns
   * how many there were, and which budgets have reached their limit with it.
   */
  settleDue(nowMs: number, limit: number): Promise<{ settled: number; reached: ReachedBudget[] }>;

  /**
   * From now on no provider call begins for the account; null: for any account. The first stop stays. False if there is no
   * such account. Audit: `spending.stop`, of all under the oldest operator's account.
   */
  stop(accountId: string | null, context: WriteContext): Promise<boolean>;
  /** False if nothing was stopped. Audit: `spending.start`. */
  start(accountId: string | null, context: WriteContext): Promise<boolean>;
  /** All, that of everyone first. */
  listStops(): Promise<SpendingStop[]>;
  /** When the account's calls were stopped, by its own stop or everyone's; null if they are not. */
  findStop(accountId: string): Promise<number | null>;
}
