/** Recognizes browsers that have signed in to an account before, by a signature made with its password hash. */
import { isSameInConstantTime } from "../lib/constant-time.ts";

/** The longest lifetime that browsers allow a cookie. */
export const deviceLifetimeMs = 400 * 86_400_000;

/** What the browser claims; unproven until `isDeviceOf` confirms it. */
export interface DeviceClaim {
  id: string;
  issuedAt: number;
  signature: string;
}

export interface DeviceOwner {
  id: string;
  passwordHash: string;
  totpConfirmedAt: number | null;
}

export function isDeviceOf({ id, issuedAt, signature }: DeviceClaim, owner: DeviceOwner, nowMs: number): boolean {
  const isRight = isSameInConstantTime(Buffer.from(signDevice(owner, id, issuedAt)), Buffer.from(signature));
  return isRight && nowMs < issuedAt + deviceLifetimeMs;
}

export function signDevice(
  { id: accountId, passwordHash, totpConfirmedAt }: DeviceOwner,
  id: string,
  issuedAt: number,
): string {
  const signed = `device ${accountId} ${totpConfirmedAt ?? "none"} ${id} ${issuedAt}`;
  return new Bun.CryptoHasher("sha256", passwordHash).update(signed).digest("hex");
}
