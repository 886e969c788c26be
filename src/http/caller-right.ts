/** The right of an API key's call to go on: ends with the key, its account's suspension, and the companion. */
import type { Services } from "../dependencies.ts";
import type { Principal } from "../domain/account.ts";
import { missing } from "../domain/resource-id.ts";
import type { TurnRight } from "../turns/turn-start.ts";
import { unauthorized } from "./principal-guard.ts";

type RightDependencies = Pick<Services, "store" | "openTurns" | "clock">;

/** A principal without a key has no such right. A separate function, so that it does not keep the request alive as long. */
export function rightOfKey(
  { store, openTurns, clock }: RightDependencies,
  { keyId }: Principal,
  companionId: string,
): TurnRight {
  let isKeyGood = true;
  return {
    async check() {
      const right = keyId === null ? null : await store.apiKeys.checkCaller(keyId, companionId);
      const endsAt = right?.expiresAt ?? null;
      isKeyGood = right !== null && (endsAt === null || endsAt > clock.nowMs());
      if (endsAt !== null && isKeyGood) openTurns.expectEnd(endsAt);
      return isKeyGood && right?.hasCompanion === true ? right.spending : null;
    },
    refusal: () => (isKeyGood ? missing("companion") : unauthorized()),
  };
}
