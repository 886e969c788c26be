/** Checks the second factor of people who have one: the current code or a recovery code. */
import type { SecondFactor, WriteContext } from "../../contracts/store/store.ts";
import type { Attempt, Verdict } from "../../core/sign-in/attempts.ts";
import type { AppError } from "../../domain/errors.ts";
import { type Identity, personIdOf } from "../../domain/member.ts";
import { hashRecoveryCode, totpSecretName } from "../../domain/second-factor.ts";
import { totpRequired } from "../../http/principal-guard.ts";
import { findTotpStep } from "../../lib/totp.ts";
import type { SessionServices } from "./visitor.ts";

/** Null if sign-in may proceed; otherwise the refusal, and whether a code was tried. */
export async function refuseWithoutSecondFactor(
  services: SessionServices,
  attempt: Attempt,
  person: Identity,
  sent: string | undefined,
  context: WriteContext,
): Promise<{ verdict: Verdict; value: AppError } | null> {
  const factor = await services.store.secondFactors.find(person);
  if (factor === null || factor.confirmedAt === null) return null;
  if (sent === undefined) {
    const value = totpRequired("Send the code of your authenticator app, or a recovery code, as well.");
    return { verdict: "uncounted", value };
  }
  if (await attempt.guessCode(() => takeCode(services, person, factor, sent, context))) return null;
  const value = totpRequired("This code is wrong or has already been used. Send the one that is shown now.");
  return { verdict: "wrong", value };
}

/** Uses up the code; true only once per code. */
async function takeCode(
  services: SessionServices,
  person: Identity,
  factor: SecondFactor,
  sent: string,
  context: WriteContext,
): Promise<boolean> {
  const { secondFactors } = services.store;
  const digits = readCode(sent);
  if (digits === null) {
    const hash = hashRecoveryCode(personIdOf(person), sent);
    return hash !== null && (await secondFactors.takeRecoveryCode(person, hash, context));
  }
  const secret = await openSecret(services, person, factor.sealedSecret);
  const step = findTotpStep(secret, digits, { nowMs: services.clock.nowMs(), lastStep: factor.lastStep });
  return step !== null && (await secondFactors.takeStep(person, step));
}

/** The six digits, however the app groups them; null if the text is not such a code. */
export function readCode(sent: string): string | null {
  const digits = sent.replace(/\s/g, "");
  return /^\d{6}$/.test(digits) ? digits : null;
}

export async function sealSecret(
  { sealing }: Pick<SessionServices, "sealing">,
  person: Identity,
  secret: Uint8Array,
): Promise<string> {
  return await sealing.seal(totpSecretName(personIdOf(person)), secret.toHex());
}

export async function openSecret(
  { sealing }: Pick<SessionServices, "sealing">,
  person: Identity,
  sealed: string,
): Promise<Uint8Array> {
  return Uint8Array.fromHex(await sealing.open(totpSecretName(personIdOf(person)), sealed));
}
