/** What the provider calls of one reply may spend, and what those cost that were not the last. */
import type { TurnTicket } from "../../contracts/coordination.ts";
import type { AnswererBound, CallGate, NextCall, ReplyRequest } from "../../contracts/llm/provider.ts";
import { type SpendingState, spendingFactsOf } from "../../domain/budget.ts";
import { AppError } from "../../domain/errors.ts";
import { type Answerer, addCalls, type CallTotals, type ChargedCall, noCalls, noTokens } from "../../domain/usage.ts";
import type { Services } from "../dependencies.ts";
import { boundOfReply, costOfCall } from "./reply-cost.ts";
import { countReply } from "./reply-request.ts";
import { admitSpending, type CallBound, noteReached, releaseSpending, type SpendingServices } from "./spending.ts";
import type { TurnStart } from "./turn-start.ts";

export type CallServices = SpendingServices & Pick<Services, "llm" | "settings">;

/** Whether a provider has answered, if not in words: with a count, or with thoughts. */
export function isAnswer({ usage, reasoningBytes = 0 }: ChargedCall): boolean {
  return usage !== null || reasoningBytes > 0;
}

/** What of a turn its calls are about. */
interface AskingTurn {
  readonly ticket: TurnTicket;
  readonly request: ReplyRequest;
  /** What may be spent at the moment; null if the turn has been stopped. Rejects if its right is lost. */
  readRight(): Promise<SpendingState | null>;
}

export class ReplyCalls implements CallGate {
  /** Of what budgets hold for the call under way; null for nothing. */
  reservationId: string | null = null;
  /** Who answered a call before this one, which is counted already; null for none. */
  countedBefore: Answerer | null = null;
  /** What the calls before this one came to. */
  earlier: CallTotals = noCalls;
  readonly #services: CallServices;
  readonly #start: Pick<TurnStart, "companion" | "keyId" | "requestId">;
  readonly #turn: AskingTurn;
  #heldMicros = 0;

  constructor(services: CallServices, start: TurnStart, turn: AskingTurn) {
    this.#services = services;
    this.#start = start;
    this.#turn = turn;
  }

  /** Before the first call, where it may be refused. Rejects as `admitSpending` does. */
  async admit(spending: SpendingState): Promise<void> {
    await this.#reserve(spending, () => this.#services.llm.listBounds(this.#turn.request));
  }

  /** `change`: makes of the request that was sent before the one that is to be permitted. */
  async permit(next: NextCall, change = () => {}): Promise<boolean> {
    // First of all: it is spent, whatever happens now.
    if (next.before !== null) await this.count(next.before);
    change();
    return await this.#allow(() => [next]);
  }

  /** As `permit`, for the first call, where the request has grown since `admit`: by any provider that may answer it. */
  async admitAgain(): Promise<boolean> {
    return await this.#allow(() => this.#services.llm.listBounds(this.#turn.request));
  }

  async #allow(bounds: () => readonly AnswererBound[]): Promise<boolean> {
    const spending = await this.#turn.readRight();
    // The caller knows that there is no further one; the message has reached a provider, and counts.
    if (spending === null) return true;
    if (!spending.isStopped && !spending.hasBudgets) return true;
    const { micros } = this.#bound(bounds());
    if (!spending.isStopped && this.reservationId !== null && micros !== null) {
      if (micros <= this.#heldMicros) return true;
      // Not both together, which might be more than there is.
      await this.release();
    }
    try {
      await this.#reserve(spending, bounds);
      return true;
    } catch (error) {
      if (error instanceof AppError && /^(budget_exceeded|rate_limited)$/.test(error.code)) return false;
      throw error;
    }
  }

  /** Nothing was spent of what is held. Never rejects. */
  async release(): Promise<void> {
    const id = this.reservationId;
    this.reservationId = null;
    if (id !== null) await releaseSpending(this.#services, id);
  }

  #bound(bounds: readonly AnswererBound[]): CallBound {
    return boundOfReply(this.#services.settings.prices, this.#turn.request, bounds);
  }

  async #reserve(spending: SpendingState, bounds: () => readonly AnswererBound[]): Promise<void> {
    const { ticket } = this.#turn;
    const { companion, keyId, requestId } = this.#start;
    const call = { companion, keyId, requestId, day: ticket.day, ticketId: ticket.id, isVoice: false };
    this.reservationId = await admitSpending(this.#services, call, spending, () => {
      const bound = this.#bound(bounds());
      this.#heldMicros = bound.micros ?? 0;
      return bound;
    });
  }

  /** In usage, without a message of its own, and in budgets, in one commit. */
  async count(call: ChargedCall): Promise<void> {
    const { store, clock, settings, measurements } = this.#services;
    const { ticket, request } = this.#turn;
    const { companion, keyId } = this.#start;
    const { id: companionId, accountId, metadata } = companion;
    const { answeredBy } = call;
    const price = settings.prices.findTokenPrice(answeredBy);
    // Nothing came that could be counted, and no one knows what it costs: what is held is for the next call.
    if (price === null && !isAnswer(call)) return;
    const { reservationId } = this;
    // Of one that cannot be counted now, what is held is settled at its worst case when it is due.
    this.reservationId = null;
    if (isAnswer(call)) this.countedBefore = answeredBy;
    const { estimated, ...usage } = isAnswer(call) ? countReply(request, "", call) : { ...noTokens, estimated: true };
    const facts = spendingFactsOf({ companionId, keyId, metadata });
    const spend = price === null && reservationId === null ? null : { facts, reservationId, atMs: clock.nowMs() };
    const cost = price && costOfCall(price, request, call, { tokens: usage, text: "", isWhole: false });
    this.earlier = addCalls(this.earlier, { usage: { ...usage, estimated: isAnswer(call) && estimated }, cost });
    const origin = { accountId, companionId, keyId, day: ticket.day };
    measurements.countTokens({ ...usage, estimated });
    noteReached(this.#services, await store.turns.recordCall({ ...origin, answeredBy, usage, cost, spend }));
  }
}
