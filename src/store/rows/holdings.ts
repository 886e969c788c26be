/** Whether what an account holds is within its limits. Call it after writing the rows: what it throws undoes them. */
import type { Holdings, Plan } from "../../domain/account.ts";
import type { AppError } from "../../domain/errors.ts";
import { limitReached } from "../../domain/holdings.ts";

/** As triggers count it. */
export interface HeldRow {
  number: number;
  plan: Plan;
  companions: number;
  companionBytes: number;
  answerBytes: number;
}

/** A row, and the limits of its plan. */
export interface LimitedHoldings {
  held: HeldRow;
  limits: Holdings;
}

export function requireRoomForCompanions({ held, limits }: LimitedHoldings): void {
  if (held.companions > limits.companions) throw limitReached.companions(limits.companions);
  if (held.companionBytes > limits.bytes) throw limitReached.bytes(limits.bytes);
}

export function hasRoomForCompanions({ held, limits }: LimitedHoldings): boolean {
  return held.companions <= limits.companions && held.companionBytes <= limits.bytes;
}

/** Of companions just added, in their order, why there is no room for some, by their ids. */
export function findThoseWithoutRoom(
  { held, limits }: LimitedHoldings,
  added: readonly { id: string; bytes: number }[],
): Map<string, AppError> {
  const refusals = new Map<string, AppError>();
  let companions = held.companions - added.length;
  let taken = added.reduce((left, { bytes }) => left - bytes, held.companionBytes);
  for (const { id, bytes } of added) {
    if (companions >= limits.companions) refusals.set(id, limitReached.companions(limits.companions));
    else if (taken + bytes > limits.bytes) refusals.set(id, limitReached.bytes(limits.bytes));
    else {
      companions++;
      taken += bytes;
    }
  }
  return refusals;
}

/** A source is growth also before it is read. */
export function requireRoomForSources({ held, limits }: LimitedHoldings): void {
  if (held.companionBytes > limits.bytes) throw limitReached.bytes(limits.bytes);
}

/** Who holds more than the limit may still change what there is, as long as it does not grow. */
export function requireRoomForGrowth({ held, limits }: LimitedHoldings, bytesBefore: number): void {
  if (held.companionBytes > Math.max(bytesBefore, limits.bytes)) throw limitReached.bytes(limits.bytes);
}

export function requireRoomForAnswers({ held, limits }: LimitedHoldings): void {
  if (held.answerBytes > limits.bytes) throw limitReached.responses(limits.bytes);
}
