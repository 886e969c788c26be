/** The answers that an authority waits for: of this server's order, or of another's with the same database. */
import type { CertificateShelf } from "../../contracts/certificates/certificate-store.ts";
import { createSharedRun } from "../../lib/shared-run.ts";

export interface Challenges {
  put(token: string, answer: string): Promise<void>;
  find(token: string): Promise<string | null>;
  /** Once the order has ended. Never rejects: what is left over is in nobody's way, and goes with the next order. */
  clear(): Promise<void>;
}

const tokenShape = /^[\w-]{20,256}$/;
/** Anybody may ask for any token; the shelf is asked for all of them at once, and this often at most. */
const gapMs = 50;

export function createChallenges(shelf: CertificateShelf): Challenges {
  const own = new Map<string, string>();
  let ofOthers: ReadonlyMap<string, string> = new Map();
  const look = createSharedRun(async () => {
    await Bun.sleep(gapMs);
    ofOthers = await shelf.listChallenges();
  });

  return {
    async put(token, answer) {
      await shelf.putChallenge(token, answer);
      own.set(token, answer);
    },
    async find(token) {
      if (!tokenShape.test(token)) return null;
      const answer = own.get(token);
      if (answer !== undefined || !shelf.isShared) return answer ?? null;
      await look();
      return ofOthers.get(token) ?? null;
    },
    async clear() {
      own.clear();
      await shelf.clearChallenges().catch(() => {});
    },
  };
}
