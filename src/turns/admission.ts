/** Admits or refuses turns and voice sessions, before any provider is called. */
import type { QuotaRefusal, Reservation, TurnEntry, TurnTicket } from "../coordination/coordination.ts";
import type { Services } from "../dependencies.ts";
import type { Plan } from "../domain/account.ts";
import { AppError } from "../domain/errors.ts";
import type { StopSignal } from "../lib/stop-signal.ts";
import { RunsElsewhere, type TurnStart } from "./turn-start.ts";

type Admitting = Pick<Services, "coordination" | "settings">;

/**
 * Resolves when the turn may run; see `TurnGate`. Rejects with `rate_limited` if too many are waiting, with
 * `quota_exceeded`, `unavailable`, `RunsElsewhere`, or the signal's reason; then nothing is held.
 */
export async function enterTurn(
  { coordination, settings }: Admitting,
  { companion, plan, keeper, named, visitor }: TurnStart,
  signal: StopSignal,
): Promise<TurnTicket> {
  const isCounted = named?.isRerun !== true;
  const entry: TurnEntry = {
    companionId: companion.id,
    queueKey: keeper.queueKey,
    messagesPerDay: isCounted ? settings.dailyMessages[plan] : null,
    visitor: isCounted ? visitor : null,
    messageId: named?.messageId ?? null,
  };
  const verdict = await coordination.turns.enter(entry, signal);
  if (verdict.isAdmitted) return verdict;
  if (verdict.reason === "runs_elsewhere") throw new RunsElsewhere();
  if (verdict.reason === "day_used_up") throw usedUp("This companion has answered all its messages", verdict);
  if (verdict.reason === "visitor_day_used_up") throw usedUp("You have sent all your messages here", verdict);
  throw new AppError("rate_limited", "This conversation has too many messages waiting. Wait for the reply.", {
    retryAfterSeconds: verdict.retryAfterSeconds,
  });
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
