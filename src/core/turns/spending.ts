/** What a call may spend: asked before its provider is, and reported to the operator where a limit is reached. */
import type { TicketId } from "../../contracts/coordination.ts";
import type { ReachedBudget, SpendingCall } from "../../contracts/store/store.ts";
import { endOfPeriodMs, type SpendingState, spendingFactsOf } from "../../domain/budget.ts";
import type { Companion } from "../../domain/companion.ts";
import { AppError } from "../../domain/errors.ts";
import type { Answerer } from "../../domain/usage.ts";
import type { Services } from "../dependencies.ts";

export type SpendingServices = Pick<Services, "store" | "clock" | "ids" | "log" | "measurements">;

/** A call before it is made. */
export interface PlannedCall {
  companion: Companion;
  keyId: string | null;
  /** UTC day of admission. */
  day: string;
  ticketId: TicketId | null;
  isVoice: boolean;
  /** For the log. */
  requestId: string | null;
}

/** What a call costs at most. */
export interface CallBound {
  /** Of those that may answer, the dearest. */
  answerer: Answerer;
  /** Null if one of them has no price. */
  micros: number | null;
}

/** After these a reservation is settled at its worst case: no reply takes as long, and no transcript comes as late. */
const textDueMs = 20 * 60_000;
const voiceDueMs = 2 * 60 * 60_000;

/**
 * Resolves with the id of what is reserved in budgets, null where nothing is. Rejects with `unavailable` where the
 * operator has stopped the account, with `budget_exceeded`, and with `rate_limited` where only what calls under way hold
 * is in the way; then nothing is held. Without budgets nothing is asked.
 */
export async function admitSpending(
  services: SpendingServices,
  call: PlannedCall,
  { isStopped, hasBudgets }: SpendingState,
  bound: () => CallBound,
): Promise<string | null> {
  const { measurements, log, store, clock, ids } = services;
  const { companion, keyId, day, ticketId, isVoice, requestId } = call;
  const { id: companionId, accountId, metadata } = companion;
  if (isStopped) {
    measurements.refusedCalls.stopped++;
    log.warn("provider call refused: spending is stopped", { requestId, accountId, companionId });
    throw new AppError("unavailable", "This companion does not answer at the moment. Try again later.", {
      retryAfterSeconds: 60,
    });
  }
  if (!hasBudgets) return null;
  const nowMs = clock.nowMs();
  const asked: SpendingCall = {
    ...{ id: ids.uuid(), accountId, companionId, keyId, day, ticketId, isVoice, nowMs, ...bound() },
    facts: spendingFactsOf({ companionId, keyId, metadata }),
    dueAtMs: nowMs + (isVoice ? voiceDueMs : textDueMs),
  };
  const verdict = await store.spending.reserve(asked).catch((error: unknown) => {
    // It may have been reserved all the same.
    void releaseSpending(services, asked.id);
    throw error;
  });
  if (verdict.isAdmitted) return verdict.isReserved ? asked.id : null;
  noteReached(services, verdict.reached);
  const { period } = verdict;
  const reason = asked.micros === null ? "unpriced" : period === null ? "reserved" : "budget";
  measurements.refusedCalls[reason]++;
  if (period === null) {
    // Not all of them at the same moment again.
    const retryAfterSeconds = 1 + ((ids.bytes(1)[0] ?? 0) % 5);
    throw new AppError(
      "rate_limited",
      "This companion is giving many replies at the moment. Try again in a few seconds.",
      {
        retryAfterSeconds,
      },
    );
  }
  const retryAfterSeconds = Math.max(1, Math.ceil((endOfPeriodMs(period, day) - nowMs) / 1000));
  const until = period === "day" ? "today" : "this month";
  const sentence = `This companion has used up its budget for ${until}. Try again later.`;
  throw new AppError("budget_exceeded", sentence, { retryAfterSeconds });
}

/** Nothing was spent. Never rejects: what stays is settled at its worst case when it is due. */
export async function releaseSpending({ store, log }: Pick<Services, "store" | "log">, id: string): Promise<void> {
  try {
    await store.spending.release(id);
  } catch (error) {
    log.warn("what a call had reserved is not released", { reservationId: id, error });
  }
}

/** Once for each budget and period, after the commit in which its limit was reached. */
export function noteReached(
  { log, measurements }: Pick<Services, "log" | "measurements">,
  reached: readonly ReachedBudget[],
): void {
  for (const { id, accountId, action, period } of reached) {
    measurements.reachedBudgets[action]++;
    log.warn("budget reached", { budgetId: id, accountId, action, period });
  }
}
