/** Password hashing: argon2id in PHC form, with bounded concurrency in lanes that do not delay each other. */
import { createSemaphore, type Semaphore } from "./semaphore.ts";
import { createSharedRun } from "./shared-run.ts";

// OWASP's minimum for argon2id: about 25 ms. Bun's default of 64 MiB is more memory than the rest of the server needs.
const cost = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

/** A hash that no password matches, at the same cost: checking an unknown account takes as long as a known one. */
const unknownHash =
  "$argon2id$v=19$m=19456,t=2,p=1$dBz0qyyicfcb4Ttddg1KlhhxYc0cI3Ri697YHWuuebQ$jNNvboXagMM4VqS+IteUJZDIvUyn3PSYx02IbsIBGT4";

/** `familiar`: callers who have already shown that the account is theirs; `stranger`: everyone else. */
export type PasswordLane = "familiar" | "stranger";

// A flood of sign-ins must neither take the CPU from streams nor use unbounded memory.
const gates: Record<PasswordLane, Semaphore> = {
  familiar: createSemaphore({ concurrency: 1, maxWaiting: 64 }),
  stranger: createSemaphore({ concurrency: 1, maxWaiting: 64 }),
};

/** Any number of attempts at unknown accounts cost one computation at a time, and no slot in a lane. */
const verifyUnknown = createSharedRun(async () => {
  await Bun.password.verify("no one's", unknownHash);
});

/** Rejects with `SemaphoreFull` when too many others are waiting. */
export function hashPassword(password: string): Promise<string> {
  return gates.familiar.run(() => Bun.password.hash(toOneForm(password), cost));
}

/**
 * Whether the password matches the hash. For a null hash, false after the time of one computation. Rejects with
 * `SemaphoreFull` when too many others are waiting in the lane, for a null hash too.
 */
export async function verifyPassword(password: string, hash: string | null, lane: PasswordLane): Promise<boolean> {
  if (hash !== null) return gates[lane].run(() => Bun.password.verify(toOneForm(password), hash));
  // If only known accounts waited in the lane, a busy lane would reveal which accounts exist.
  await gates[lane].waitAlong();
  await verifyUnknown();
  return false;
}

/** Keyboards send the same letter in different Unicode forms. */
function toOneForm(password: string): string {
  return password.normalize("NFC");
}
