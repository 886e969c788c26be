/** Second factors: who must have one, and its recovery codes. */
import type { IdSource } from "../lib/ids.ts";
import { sha256Hex } from "../lib/sha256.ts";
import type { Account } from "./account.ts";

/** Which dashboard accounts must have one. */
export type TotpRequirement = "none" | "operators" | "all";

export function mustHaveTotp(requirement: TotpRequirement, { role }: Pick<Account, "role">): boolean {
  return requirement === "all" || (requirement === "operators" && role === "operator");
}

/** Such an account may do nothing but set up its second factor. */
export function lacksTotp(requirement: TotpRequirement, account: Pick<Account, "role" | "totpConfirmedAt">): boolean {
  return account.totpConfirmedAt === null && mustHaveTotp(requirement, account);
}

/** The name under which the secret is sealed: moved to another person's row, it does not open. */
export function totpSecretName(personId: string): string {
  return `totp:${personId}`;
}

export const recoveryCodeCount = 10;
/** Crockford's base 32: no letters that look like digits. 80 bits, too many for guesses against the hash. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const codeLength = 16;

/** Ten different codes, as they are shown: `k3m9-qx0w-7t2d-hn5p`. */
export function makeRecoveryCodes({ bytes }: Pick<IdSource, "bytes">): string[] {
  return Array.from({ length: recoveryCodeCount }, () => {
    const letters = Array.from(bytes(codeLength), (byte) => alphabet[byte % alphabet.length]);
    return (letters.join("").match(/.{4}/g) ?? []).join("-");
  });
}

/** The stored hash of a code, however it was typed; null if the text cannot be a code. */
export function hashRecoveryCode(personId: string, typed: string): string | null {
  const code = typed.toLowerCase().replace(/[\s-]/g, "").replaceAll("o", "0").replace(/[il]/g, "1");
  if (code.length !== codeLength || [...code].some((letter) => !alphabet.includes(letter))) return null;
  return sha256Hex(`${personId} ${code}`);
}
