/** The certificate store of several servers with one database: texts in it, sealed by the key that all of them have. */
import {
  type CertificateStore,
  certificateStoreItems,
  type UnreadableItem,
} from "../../contracts/certificates/certificate-store.ts";
import type { CertificateTexts } from "../../contracts/store/certificate-texts.ts";
import { AppError } from "../../domain/errors.ts";
import type { Sealing } from "../../lib/sealing.ts";

const challengePrefix = "challenge ";
/** An order has a hundred names at most, and each of them one challenge and one probe. */
const maxChallenges = 250;

export function createSharedCertificateStore(
  texts: CertificateTexts,
  sealing: Pick<Sealing, "seal" | "open">,
): CertificateStore {
  const sealingName = (name: string) => `certificate ${name}`;

  async function put(name: string, text: string): Promise<void> {
    await texts.put(name, await sealing.seal(sealingName(name), text));
  }

  async function open(name: string, sealed: string | undefined): Promise<string | UnreadableItem | null> {
    if (sealed === undefined) return null;
    try {
      return await sealing.open(sealingName(name), sealed);
    } catch (error) {
      // The key itself is missing, or is not that of the other servers: with the right one, this can be read.
      if (error instanceof AppError) throw error;
      return { unreadable: "it was sealed with another COMPANIOND_SECRET_KEY" };
    }
  }

  return {
    isShared: true,

    async read() {
      const sealed = await texts.find(certificateStoreItems);
      const [account = null, certificate = null, attempts = null] = await Promise.all(
        certificateStoreItems.map((item) => open(item, sealed.get(item))),
      );
      return { account, certificate, attempts };
    },

    write: put,
    remove: (item) => texts.remove(item),

    async setAside(item) {
      await texts.remove(item);
      return null;
    },

    putChallenge: (token, answer) => put(`${challengePrefix}${token}`, answer),

    async listChallenges() {
      const found = new Map<string, string>();
      for (const [name, sealed] of await texts.list(challengePrefix, maxChallenges)) {
        const answer = await open(name, sealed);
        if (typeof answer === "string") found.set(name.slice(challengePrefix.length), answer);
      }
      return found;
    },

    clearChallenges: () => texts.removeAll(challengePrefix),
  };
}
