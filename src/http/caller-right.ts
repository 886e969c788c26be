/** The right of a management call to go on: ends with its key or session, its account's suspension, and the companion. */
import type { Services } from "../core/dependencies.ts";
import type { OpenTurns } from "../core/turns/open-turns.ts";
import type { TurnRight } from "../core/turns/turn-start.ts";
import { type KeyPrincipal, type Principal, type Scope, scopesOf } from "../domain/account.ts";
import type { SpendingState } from "../domain/budget.ts";
import { missing } from "../domain/errors.ts";
import { reaches } from "../domain/member.ts";
import { unauthorized } from "./principal-guard.ts";
import type { OpenedSession } from "./session-cookie.ts";

type RightDependencies = Pick<Services, "store" | "clock"> & { readonly openTurns: Pick<OpenTurns, "expectEnd"> };

/** A key or session as it is now. */
interface Caller {
  /** Null: never without a change in the store. */
  endsAt: number | null;
  /** Of the companion's account; null if the caller may not use the companion any more. */
  spending: SpendingState | null;
}

/** A principal without a key has no such right. A separate function, so that it does not keep the request alive as long. */
export function rightOfKey(services: RightDependencies, { keyId }: Principal, companionId: string): TurnRight {
  return createRight(services, async () => {
    const right = keyId === null ? null : await services.store.apiKeys.checkCaller(keyId, companionId);
    if (right === null) return null;
    return { endsAt: right.expiresAt, spending: right.hasCompanion ? right.spending : null };
  });
}

/** For an owner's test chat, by key or session: owners may test a companion even if it is disabled. */
export function rightToTry(
  services: RightDependencies,
  principal: KeyPrincipal | OpenedSession,
  companionId: string,
): TurnRight {
  const { store } = services;
  const [accountId, keyId] = [principal.account.id, principal.keyId];
  const sessionHash = principal.keyId === null ? principal.sessionHash : null;

  async function findCaller(): Promise<Pick<Caller, "endsAt"> | null> {
    if (sessionHash === null) {
      const right = keyId === null ? null : await store.apiKeys.checkCaller(keyId, companionId);
      return right && { endsAt: right.expiresAt };
    }
    const found = await findSession(services, sessionHash, "companions:write");
    // Used just now, so not idle: a reply takes minutes at most.
    return found !== null && reaches(found.member, companionId) ? { endsAt: found.session.expiresAt } : null;
  }

  return createRight(services, async () => {
    const [caller, spending] = await Promise.all([findCaller(), store.companions.checkOwned(accountId, companionId)]);
    return caller && { ...caller, spending };
  });
}

/** A session as it is now, for what goes on after its request; null if it has ended, or may not do that any more. */
export async function findSession({ store }: Pick<Services, "store">, hash: string, scope: Scope) {
  const found = await store.sessions.findByHash(hash);
  const isGood = found !== null && found.account.suspendedAt === null && scopesOf(found.member).includes(scope);
  return isGood ? found : null;
}

function createRight({ openTurns, clock }: RightDependencies, findCaller: () => Promise<Caller | null>): TurnRight {
  let isCallerGood = true;
  return {
    async check() {
      const caller = await findCaller();
      const endsAt = caller?.endsAt ?? null;
      isCallerGood = caller !== null && (endsAt === null || endsAt > clock.nowMs());
      if (endsAt !== null && isCallerGood) openTurns.expectEnd(endsAt);
      return isCallerGood && caller !== null ? caller.spending : null;
    },
    refusal: () => (isCallerGood ? missing("companion") : unauthorized()),
  };
}
