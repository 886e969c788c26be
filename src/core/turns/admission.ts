/** Admits or refuses turns and voice sessions, before any provider is called. */
import type { QuotaRefusal, Reservation, TurnEntry, TurnTicket } from "../../contracts/coordination.ts";
import type { CallGate, NextCall, ReplyRequest, ReplySink } from "../../contracts/llm/provider.ts";
import type { Plan } from "../../domain/account.ts";
import type { SpendingState } from "../../domain/budget.ts";
import type { Companion } from "../../domain/companion.ts";
import { AppError } from "../../domain/errors.ts";
import { type Answerer, type CallTotals, noCalls } from "../../domain/usage.ts";
import { secondsToNextMonth } from "../../lib/clock.ts";
import type { StopSignal } from "../../lib/stop-signal.ts";
import type { Services } from "../dependencies.ts";
import { countsAgain } from "./conversation-storage.ts";
import { type CallServices, ReplyCalls } from "./reply-calls.ts";
import { type ReplySource, RunsElsewhere, type TurnOutcome, type TurnStart } from "./turn-start.ts";

type Admitting = Pick<Services, "coordination" | "settings">;
type TurnAdmitting = Admitting & Pick<Services, "store" | "clock">;

/**
 * Resolves when the turn may run; see `TurnGate`. Rejects with `rate_limited` if too many are waiting, with
 * `quota_exceeded`, `unavailable`, `RunsElsewhere`, `KeptForPeople`, or the signal's reason; then nothing is held.
 */
export async function enterTurn(
  services: TurnAdmitting,
  { companion, plan, storage, named, visitor, decision, isOutsideDay = false }: TurnStart,
  signal: StopSignal,
): Promise<TurnTicket> {
  const { coordination, settings } = services;
  // A decision is part of the message that led to it.
  const isCounted = !isOutsideDay && decision === undefined && (named === null || countsAgain(named));
  const byPlan = settings.dailyMessages[plan];
  const messagesPerDay = Math.min(byPlan, companion.dailyMessages ?? byPlan);
  const entry: TurnEntry = {
    companionId: companion.id,
    queueKey: storage.queueKey,
    messagesPerDay: isCounted ? messagesPerDay : null,
    visitor: isCounted ? visitor : null,
    messageId: named?.messageId ?? null,
  };
  const verdict = await coordination.turns.enter(entry, signal);
  if (verdict.isAdmitted) {
    const { monthlyTokens } = companion;
    if (monthlyTokens !== null && decision === undefined) {
      await requireMonthLeft(services, companion, monthlyTokens, verdict);
    }
    return verdict;
  }
  if (verdict.reason === "runs_elsewhere") throw new RunsElsewhere();
  // Its state was read before it came here: people have neither a queue's bound nor a day's quota.
  await storage.people?.keepIfTaken();
  if (verdict.reason === "day_used_up") {
    const whose = messagesPerDay < byPlan ? "the messages that its owner allows" : "its messages";
    throw usedUp(`This companion has answered all ${whose}`, verdict);
  }
  if (verdict.reason === "visitor_day_used_up") throw usedUp("You have sent all your messages here", verdict);
  throw new AppError("rate_limited", "This conversation has too many messages waiting. Wait for the reply.", {
    retryAfterSeconds: verdict.retryAfterSeconds,
  });
}

/** Rejects with `quota_exceeded` or `unavailable`; then the ticket is released. */
async function requireMonthLeft(
  { store, clock }: TurnAdmitting,
  { id, accountId }: Companion,
  monthlyTokens: number,
  ticket: TurnTicket,
): Promise<void> {
  try {
    const used = await store.turns.countMonthTokens(accountId, id, ticket.day.slice(0, "YYYY-MM".length));
    if (used < monthlyTokens) return;
    throw new AppError("quota_exceeded", "This companion has used all its tokens for this month.", {
      retryAfterSeconds: secondsToNextMonth(clock.nowMs()),
    });
  } catch (error) {
    ticket.leave();
    throw error;
  }
}

/** Rejects with `quota_exceeded` or `unavailable`; then nothing is reserved. */
export async function reserveVoiceSession(
  { coordination, settings }: Admitting,
  companionId: string,
  plan: Plan,
): Promise<Reservation> {
  const verdict = await coordination.voiceSessions.reserve(companionId, settings.dailyVoiceSessions[plan]);
  if (verdict.isAdmitted) return verdict;
  throw usedUp("This companion has held all its voice sessions", verdict);
}

function usedUp(what: string, { retryAfterSeconds }: QuotaRefusal): AppError {
  const sentence = `${what} for today. Try again tomorrow.`;
  return new AppError("quota_exceeded", sentence, { retryAfterSeconds });
}

export function mayUseTools({ companion, caller, decision, storage }: TurnStart): boolean {
  const hasTools = companion.toolCount > 0 || storage.people?.mayModelAsk === true;
  return decision !== undefined || (caller !== undefined && hasTools);
}

/**
 * What is asked of the companion's model, with all that its chain tries for it: the usual source of a reply, and the gate of
 * its further calls. A turn with another source asks nothing of it.
 */
export class AskedReply implements CallGate, ReplySource {
  readonly isCharged = true;
  readonly request: ReplyRequest;
  readonly ticket: TurnTicket;
  /** As in `TurnResult`. */
  hasWebhooks = false;
  readonly #services: CallServices;
  readonly #start: TurnStart;
  readonly #turn: RunningTurn;
  /** Null as long as nothing is held, and it has been the one call that most replies are. */
  #calls: ReplyCalls | null = null;

  constructor(services: CallServices, start: TurnStart, ticket: TurnTicket, request: ReplyRequest, turn: RunningTurn) {
    this.request = request;
    this.ticket = ticket;
    this.#services = services;
    this.#start = start;
    this.#turn = turn;
  }

  /** Of what budgets hold for the call under way; null for nothing. */
  get reservationId(): string | null {
    return this.#calls?.reservationId ?? null;
  }

  /** Who answered a call before this one that is counted already; null for none. */
  get countedBefore(): Answerer | null {
    return this.#calls?.countedBefore ?? null;
  }

  /** What the calls before the last came to. */
  get earlier(): CallTotals {
    return this.#calls?.earlier ?? noCalls;
  }

  /**
   * The last that can refuse the turn, before its first call; `isAsked`: false where there will be none. Rejects with the
   * public error; then nothing is held.
   */
  async admit(isAsked: boolean): Promise<void> {
    // It may have been lost during a long wait, and each call costs.
    const spending = await this.#turn.readRight();
    if (spending === null) return this.#turn.requireRunning();
    this.hasWebhooks = spending.hasWebhooks;
    if (isAsked && (spending.isStopped || spending.hasBudgets)) await this.#openCalls().admit(spending);
    try {
      this.#turn.requireRunning();
      await this.#start.spendWork?.();
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  /** Of a call that was stopped before a word, and is no message of the day: what it costs, with what is held for it. */
  async countUnsaid({ answeredBy, ...call }: TurnOutcome): Promise<void> {
    if (answeredBy !== null) await this.#openCalls().count({ ...call, answeredBy });
  }

  reply(sink: ReplySink, signal: StopSignal): Promise<TurnOutcome> {
    this.request.gate = this;
    return this.#services.llm.streamReply(this.request, sink, signal);
  }

  /** As `ReplyCalls.permit`. */
  permit(next: NextCall, change?: () => void): Promise<boolean> {
    return this.#openCalls().permit(next, change);
  }

  /** As `ReplyCalls.admitAgain`. */
  admitAgain(): Promise<boolean> {
    return this.#openCalls().admitAgain();
  }

  /** Nothing was spent of what is held. Never rejects. */
  async release(): Promise<void> {
    await this.#calls?.release();
  }

  /** As in `RunningTurn`. */
  readRight(): Promise<SpendingState | null> {
    return this.#turn.readRight();
  }

  #openCalls(): ReplyCalls {
    this.#calls ??= new ReplyCalls(this.#services, this.#start, this);
    return this.#calls;
  }
}

interface RunningTurn {
  /** What may be spent at the moment; null if the turn has been stopped. Rejects with the public error if its right is lost. */
  readRight(): Promise<SpendingState | null>;
  /** Throws the public error if it has been stopped. */
  requireRunning(): void;
}
