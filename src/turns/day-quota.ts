/** One message or one voice session of a companion's day, reserved before anything is asked of a provider. */

import type { Services } from "../dependencies.ts";
import type { Plan } from "../domain/account.ts";
import { AppError } from "../domain/errors.ts";
import type { DailyQuota, QuotaReservation } from "../limits/daily-quota.ts";

type Day = Pick<Services, "settings" | "clock">;

/** Rejects with `quota_exceeded` or `unavailable`; nothing is reserved then. */
export function reserveMessage(
  services: Day & Pick<Services, "dailyQuota">,
  companionId: string,
  plan: Plan,
): Promise<QuotaReservation> {
  const limit = services.settings.dailyMessages[plan];
  return reserve(services, services.dailyQuota, companionId, limit, "answered all its messages");
}

/** The same for a voice session. */
export function reserveVoiceSession(
  services: Day & Pick<Services, "voiceQuota">,
  companionId: string,
  plan: Plan,
): Promise<QuotaReservation> {
  const limit = services.settings.dailyVoiceSessions[plan];
  return reserve(services, services.voiceQuota, companionId, limit, "held all its voice sessions");
}

async function reserve(
  { clock }: Pick<Services, "clock">,
  quota: DailyQuota,
  companionId: string,
  limit: number,
  exhausted: string,
): Promise<QuotaReservation> {
  const verdict = await quota.reserve(companionId, limit, clock.nowMs());
  if (verdict.isAdmitted) return verdict;
  throw new AppError("quota_exceeded", `This companion has ${exhausted} for today. Try again tomorrow.`, {
    retryAfterSeconds: verdict.retryAfterSeconds,
  });
}
