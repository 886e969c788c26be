/** Dashboard sessions: their lifetimes, and how a browser that had one is recognized, by a signature with the password hash. */
import { isSameInConstantTime } from "../lib/constant-time.ts";

const dayMs = 86_400_000;

/** The session ends after this long without a request. */
export const idleLifetimeMs = 7 * dayMs;

/** The session ends after this long in any case. */
export const lifetimeMs = 30 * dayMs;

/** Characters in a session token: 256 bits in base 62. */
export const sessionTokenLength = 43;

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
