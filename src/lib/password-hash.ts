/** Passwords at rest: argon2id in PHC form, a bounded number of computations at a time. */
import { createGate } from "./gate.ts";

// OWASP's minimum for argon2id: about 25 ms. Bun's own 64 MiB would cost a small machine more memory than the rest of us.
const cost = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

/** Of a password that nobody knows, with the same cost: verifying takes as long as for an account that exists. */
const nobodysHash =
  "$argon2id$v=19$m=19456,t=2,p=1$dBz0qyyicfcb4Ttddg1KlhhxYc0cI3Ri697YHWuuebQ$jNNvboXagMM4VqS+IteUJZDIvUyn3PSYx02IbsIBGT4";

// A flood of sign-ins must neither take the cores from the streams nor hold memory without bound.
const gate = createGate({ concurrency: 2, maxWaiting: 64 });

/** Rejects with `GateFull` while too many others wait. */
export function hashPassword(password: string): Promise<string> {
  return gate.run(() => Bun.password.hash(toOneForm(password), cost));
}

/**
 * Whether the password is the one of the hash; false for a null hash, after the same time. Rejects with `GateFull`
 * while too many others wait.
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const isMatch = await gate.run(() => Bun.password.verify(toOneForm(password), hash ?? nobodysHash));
  return hash !== null && isMatch;
}

/** Keyboards send the same letter in different forms. */
function toOneForm(password: string): string {
  return password.normalize("NFC");
}
