/** Passwords at rest: argon2id in PHC form, a bounded number of computations at a time, in lanes that do not hold one another up. */
import { createSemaphore, type Semaphore } from "./semaphore.ts";
import { createSharedRun } from "./shared-run.ts";

// OWASP's minimum for argon2id: about 25 ms. Bun's own 64 MiB would cost a small machine more memory than the rest of us.
const cost = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

/** Of a password that nobody knows, with the same cost: verifying takes as long as for an account that exists. */
const nobodysHash =
  "$argon2id$v=19$m=19456,t=2,p=1$dBz0qyyicfcb4Ttddg1KlhhxYc0cI3Ri697YHWuuebQ$jNNvboXagMM4VqS+IteUJZDIvUyn3PSYx02IbsIBGT4";

/** `familiar`: who has shown already that the account is theirs; `stranger`: everyone else. */
export type PasswordLane = "familiar" | "stranger";

// A flood of sign-ins must neither take the cores from the streams nor hold memory without bound.
const gates: Record<PasswordLane, Semaphore> = {
  familiar: createSemaphore({ concurrency: 1, maxWaiting: 64 }),
  stranger: createSemaphore({ concurrency: 1, maxWaiting: 64 }),
};

/** However many accounts that do not exist are asked for, they cost one computation at a time, and no place in a lane. */
const verifyNobody = createSharedRun(async () => {
  await Bun.password.verify("nobody's", nobodysHash);
});

/** Rejects with `SemaphoreFull` while too many others wait. */
export function hashPassword(password: string): Promise<string> {
  return gates.familiar.run(() => Bun.password.hash(toOneForm(password), cost));
}

/**
 * Whether the password is the one of the hash; false for a null hash, after the time of a computation. Rejects with
 * `SemaphoreFull` while too many others wait in the lane, for a null hash too.
 */
export async function verifyPassword(password: string, hash: string | null, lane: PasswordLane): Promise<boolean> {
  if (hash !== null) return gates[lane].run(() => Bun.password.verify(toOneForm(password), hash));
  // A lane that is busy tells who exists, where only they have to wait in it.
  await gates[lane].waitAlong();
  await verifyNobody();
  return false;
}

/** Keyboards send the same letter in different forms. */
function toOneForm(password: string): string {
  return password.normalize("NFC");
}
