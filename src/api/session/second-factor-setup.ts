/** Sets up the second factor of the signed-in person, and removes it. */
import { AppError, invalidFields, missing } from "../../domain/errors.ts";
import { identityOf, personIdOf } from "../../domain/member.ts";
import { hashRecoveryCode, makeRecoveryCodes } from "../../domain/second-factor.ts";
import { findTotpStep, otpauthUrl, toBase32, totpSecretBytes } from "../../lib/totp.ts";
import { openSecret, readCode, sealSecret } from "./second-factor.ts";
import { requirePassword, type SignedInVisitor } from "./service.ts";
import { contextOf, type SessionServices } from "./visitor.ts";

/** `host` distinguishes several servers in the authenticator app. */
export async function beginSecondFactor(
  services: SessionServices,
  { visitor, account, member, sessionId }: SignedInVisitor,
  host: string,
): Promise<{ secret: string; otpauth_url: string }> {
  const person = identityOf({ account, member });
  const secret = services.ids.bytes(totpSecretBytes);
  const sealed = await sealSecret(services, person, secret);
  const context = contextOf(services, visitor, { sessionId, member });
  if (!(await services.store.secondFactors.begin(person, sealed, context))) throw isOnAlready();
  // A colon would end the issuer, and IPv6 addresses contain colons.
  const issuer = `companiond ${host.replaceAll(/[[\]:]+/g, " ").trim()}`;
  return { secret: toBase32(secret), otpauth_url: otpauthUrl(secret, { issuer, account: account.email }) };
}

/** Returns the recovery codes, of which only hashes are stored. */
export async function confirmSecondFactor(
  services: SessionServices,
  signedIn: SignedInVisitor,
  code: string,
): Promise<string[]> {
  const { secondFactors } = services.store;
  const person = identityOf(signedIn);
  const factor = await secondFactors.find(person);
  if (factor === null)
    throw new AppError("conflict", "There is no secret to confirm. Start with POST /api/session/totp.");
  if (factor.confirmedAt !== null) throw isOnAlready();
  const { sealedSecret } = factor;
  const secret = await openSecret(services, person, sealedSecret);
  const step = findTotpStep(secret, readCode(code) ?? "", { nowMs: services.clock.nowMs(), lastStep: null });
  if (step === null) throw wrongCode();
  const codes = makeRecoveryCodes(services.ids);
  const recoveryHashes = codes.map((one) => hashRecoveryCode(personIdOf(person), one) ?? "");
  const confirmation = { sealedSecret, step, recoveryHashes, keptSessionId: signedIn.sessionId };
  const context = contextOf(services, signedIn.visitor, signedIn);
  if (!(await secondFactors.confirm(person, confirmation, context))) {
    throw new AppError("conflict", "Another set-up was started in the meantime. Use the secret that was shown last.");
  }
  return codes;
}

export async function turnOffSecondFactor(
  services: SessionServices,
  signedIn: SignedInVisitor,
  password: string,
): Promise<void> {
  await requirePassword(services, signedIn, { param: "password", password });
  const context = contextOf(services, signedIn.visitor, signedIn);
  if (!(await services.store.secondFactors.remove(identityOf(signedIn), context))) throw missing("second factor");
}

function isOnAlready(): AppError {
  return new AppError("conflict", "The second factor is on already. Turn it off first to set up another one.");
}

function wrongCode(): AppError {
  return invalidFields([
    { param: "code", detail: "This is not the current code. Check that the clock of the app's device is right." },
  ]);
}
