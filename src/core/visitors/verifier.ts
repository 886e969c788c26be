/** Verifies visitors by the keys of their companion's account, and seals what is known of them. */
import type { VisitorKey } from "../../contracts/store/store.ts";
import { AppError } from "../../domain/errors.ts";
import { coversCompanion, toVerifiedId, unverified, type VisitorClaims, visitorFactsOf } from "../../domain/visitor.ts";
import type { Sealing } from "../../lib/sealing.ts";
import type { Services } from "../dependencies.ts";
import { ImportedKeys, isSignedWith } from "./key-material.ts";
import { endOf, readClaims, readToken } from "./visitor-token.ts";
import type { Visitors } from "./visitors.ts";

interface VisitorServices extends Pick<Services, "store" | "clock" | "log"> {
  /** `hasSealed`: whether anything was ever sealed. */
  readonly sealing: Sealing & { hasSealed(): Promise<boolean> };
}

type CompanionFacts = Parameters<Visitors["verify"]>[0];

export function createVisitors({ store, sealing, clock, log }: VisitorServices): Visitors {
  const importedKeys = new ImportedKeys(sealing);

  async function importedKey(accountId: string, key: VisitorKey): Promise<CryptoKey> {
    try {
      return await importedKeys.get(accountId, key);
    } catch (cause) {
      throw new AppError("unavailable", "Visitors cannot be verified at the moment.", { cause });
    }
  }

  async function idOf(accountId: string, sub: string): Promise<string> {
    return toVerifiedId(await sealing.digest("visitor", `${accountId}\n${sub}`));
  }

  /** Without a name only if there is nothing to choose from. */
  async function findKey(companion: CompanionFacts, keyId: string | null): Promise<VisitorKey | null> {
    const { visitorKeys } = store;
    if (keyId === null) return await visitorKeys.findOnly(companion.accountId, visitorFactsOf(companion));
    const key = await visitorKeys.find(companion.accountId, keyId);
    // At each request: the companion may be another customer's by now.
    return key !== null && coversCompanion(key.metadata, companion) ? key : null;
  }

  return {
    async verify(companion, token) {
      const { id: companionId, accountId } = companion;
      const read = readToken(token);
      // Before the signature: what costs nothing first.
      const claims = read && readClaims(read.payload, companionId, Math.floor(clock.nowMs() / 1000));
      if (read === null || claims === null) throw unverified();
      const key = await findKey(companion, read.keyId);
      // The token must not choose: a public key would be a secret that everyone knows.
      if (key === null || key.algorithm !== read.algorithm) throw unverified();
      if (!(await isSignedWith(key.algorithm, await importedKey(accountId, key), read))) throw unverified();
      return { id: await idOf(accountId, claims.sub), claims, tokenEndsAtMs: endOf(read.payload, clock.nowMs()) };
    },

    vouch: async (accountId, claims) => ({ id: await idOf(accountId, claims.sub), claims }),

    findId: async (accountId, sub) => ((await sealing.hasSealed()) ? await idOf(accountId, sub) : null),

    seal: ({ id, claims }) => sealing.seal(sealedClaimsName(id), JSON.stringify(claims)),

    async open(visitorId, sealed) {
      try {
        return JSON.parse(await sealing.open(sealedClaimsName(visitorId), sealed)) as VisitorClaims;
      } catch (error) {
        log.error("what is known of a visitor cannot be opened", { error });
        return null;
      }
    },
  };
}

/** The id is of one account and `sub`: what is sealed cannot be moved to another visitor. */
function sealedClaimsName(visitorId: string): string {
  return `visitor:${visitorId}`;
}
