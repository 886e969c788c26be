/** Makes challenges and checks their solutions, as ALTCHA's version 1 does, so that its clients can solve them too. */
import { type Challenge, challengeLifetimeMs, challengeRequired } from "../../domain/challenge.ts";
import { isSameInConstantTime } from "../../lib/constant-time.ts";
import { sha256, sha256Hex } from "../../lib/sha256.ts";
import type { Services } from "../dependencies.ts";
import type { Challenges } from "./visitors.ts";

type ChallengeServices = Pick<Services, "store" | "sealing" | "clock" | "ids">;

/**
 * The largest number. A browser needs half as many hashes on average: some 50 ms, ten times that on an old telephone.
 * Salt and number fit into one block of the hash.
 */
const maxNumber = 100_000;
/** Ours have 330; other clients add members of their own. */
const maxPayload = 1024;

export function createChallenges({ store, sealing, clock, ids }: ChallengeServices): Challenges {
  /** Of each companion: what was solved for one opens no other. The same at every instance, and after a restart. */
  const keyOf = (companionId: string) => sealing.digest("challenge", companionId);

  const challenges: Challenges = {
    async refusal(companionId) {
      const endsAt = Math.floor((clock.nowMs() + challengeLifetimeMs) / 1000);
      return challengeRequired(makeChallenge(await keyOf(companionId), ids.bytes(16), endsAt));
    },

    async open(companionId, payload) {
      const claims = readPayload(payload);
      if (claims === null) return null;
      const { number, salt, challenge, signature } = claims;
      const expected = sha256Hex(salt + number);
      const isGood = isSame(challenge, expected) && isSame(signature, sign(await keyOf(companionId), expected));
      const expiresAt = readExpiry(salt);
      return isGood && expiresAt > clock.nowMs() ? { signature, expiresAt } : null;
    },

    isUsedUp: ({ signature }) => store.challenges.isUsedUp(signature),

    async spend(companionId, { signature, expiresAt }, use) {
      // Hashed: it would name the visitor.
      const begun = use && { ...use, name: sha256Hex(use.name) };
      const spent = { signature, use: begun, expiresAt };
      if (!(await store.challenges.spend(spent))) throw await challenges.refusal(companionId);
    },
  };
  return challenges;
}

/** Of 16 random bytes; `endsAt` in Unix seconds. */
function makeChallenge(key: string, random: Uint8Array, endsAt: number): Challenge {
  // A remainder prefers some numbers, but the range is a tiny part of 2^32.
  const number = new DataView(random.buffer, random.byteOffset).getUint32(12) % (maxNumber + 1);
  // The last character keeps the number apart from the salt: otherwise digits could be moved from one to the other,
  // and the end put off.
  const salt = `${random.subarray(0, 12).toHex()}?expires=${endsAt}&`;
  const challenge = sha256Hex(salt + number);
  return { algorithm: "SHA-256", challenge, maxnumber: maxNumber, salt, signature: sign(key, challenge) };
}

/** HMAC-SHA-256, in hexadecimal digits. */
function sign(key: string, challenge: string): string {
  return new Bun.CryptoHasher("sha256", key).update(challenge).digest("hex");
}

function isSame(given: string, expected: string): boolean {
  return isSameInConstantTime(sha256(given), sha256(expected));
}

interface Claims {
  readonly number: number;
  readonly salt: string;
  readonly challenge: string;
  readonly signature: string;
}

/** The base64 of a JSON object; other members are ignored. */
function readPayload(payload: string): Claims | null {
  if (payload.length > maxPayload) return null;
  let claims: Partial<Record<keyof Claims | "algorithm", unknown>>;
  try {
    claims = Object(JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(payload))));
  } catch {
    return null;
  }
  const { algorithm, number, salt, challenge, signature } = claims;
  if (algorithm !== "SHA-256" || !Number.isSafeInteger(number)) return null;
  if (typeof salt !== "string" || typeof challenge !== "string" || typeof signature !== "string") return null;
  const isInRange = (number as number) >= 0 && (number as number) <= maxNumber;
  return isInRange && salt.endsWith("&") ? { number: number as number, salt, challenge, signature } : null;
}

/** Epoch milliseconds; 0 where there is none. */
function readExpiry(salt: string): number {
  const expires = new URLSearchParams(salt.slice(salt.indexOf("?") + 1)).get("expires") ?? "";
  return /^\d{1,12}$/.test(expires) ? Number(expires) * 1000 : 0;
}
