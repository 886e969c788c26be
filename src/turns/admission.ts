/** Admits or refuses turns and voice sessions, before any provider is called. */
import type { QuotaRefusal, Reservation, TurnTicket } from "../coordination/coordination.ts";
import type { Services } from "../dependencies.ts";
import type { Plan } from "../domain/account.ts";
import { AppError } from "../domain/errors.ts";
import type { StopSignal } from "../lib/stop-signal.ts";

type Admitting = Pick<Services, "coordination" | "settings">;

/**
 * Resolves when the turn may run; see `TurnGate`. Rejects with `rate_limited` if too many are waiting, with
 * `quota_exceeded`, `unavailable`, or the signal's reason; then nothing is held.
 */
export async function enterTurn(
  { coordination, settings }: Admitting,
  { companionId, plan, queueKey }: { companionId: string; plan: Plan; queueKey: string | null },
  signal: StopSignal,
): Promise<TurnTicket> {
  const limits = { messagesPerDay: settings.dailyMessages[plan], visitor: null };
  const entry = { companionId, queueKey, ...limits, messageId: null };
  const verdict = await coordination.turns.enter(entry, signal);
  if (verdict.isAdmitted) return verdict;
  if (verdict.reason === "day_used_up") throw usedUp("answered all its messages", verdict);
  if (verdict.reason !== "queue_full") throw new Error(`a turn without a name was refused: ${verdict.reason}`);
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
  throw usedUp("held all its voice sessions", verdict);
}

function usedUp(what: string, { retryAfterSeconds }: QuotaRefusal): AppError {
  const sentence = `This companion has ${what} for today. Try again tomorrow.`;
  return new AppError("quota_exceeded", sentence, { retryAfterSeconds });
}
