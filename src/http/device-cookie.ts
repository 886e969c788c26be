/**
 * The cookie of a browser that has signed in to an account before. It opens nothing: it lets its browser past those who
 * guess at the account from elsewhere. It ends with the account's password, whose hash is the key that signs it, and when
 * a second factor is turned on or off: whoever had the password alone must not pass for the owner. So nothing more need be
 * kept.
 */
import { type DeviceClaim, type DeviceOwner, deviceLifetimeMs, signDevice } from "../domain/device.ts";
import type { IdSource } from "../lib/ids.ts";
import type { OwnAddress } from "./csrf-guard.ts";
import { cookieNameOf, readCookie } from "./session-cookie.ts";

const idLength = 22;
const pattern = /^([0-9A-Za-z]{22})\.(\d{1,15})\.([0-9a-f]{64})$/;

export function readDevice(settings: OwnAddress, request: Request): DeviceClaim | null {
  const sessionName = cookieNameOf(settings, request);
  const value = sessionName === null ? null : readCookie(request, deviceNameOf(sessionName), pattern);
  const [, id = "", issuedAt = "", signature = ""] = pattern.exec(value ?? "") ?? [];
  return id === "" ? null : { id, issuedAt: Number(issuedAt), signature };
}

/** `Set-Cookie` for a browser that has just shown that the account is its own. Only the routes of signing in see it. */
export function renderDeviceCookie(
  sessionName: string,
  owner: DeviceOwner,
  { ids, nowMs }: { ids: Pick<IdSource, "secret">; nowMs: number },
): string {
  const id = ids.secret(idLength);
  const name = deviceNameOf(sessionName);
  const secure = name.startsWith("__Secure-") ? "; Secure" : "";
  const value = `${id}.${nowMs}.${signDevice(owner, id, nowMs)}`;
  return `${name}=${value}; Path=/api/session; Max-Age=${deviceLifetimeMs / 1000}; HttpOnly; SameSite=Strict${secure}`;
}

/** `__Host-` would have it sent with every request. */
function deviceNameOf(sessionName: string): string {
  return sessionName.startsWith("__Host-") ? "__Secure-companiond_device" : "companiond_device";
}
