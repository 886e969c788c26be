/**
 * The cookie of a browser that has signed in to an account before. It gives no access: it only lets the browser go
 * before others who guess at the account. The account's password hash is the key that signs it, so it ends with the
 * password; and it ends when a second factor is turned on or off, since whoever had only the password must not pass for
 * the owner. Nothing needs to be stored for that.
 */
import { type DeviceClaim, type DeviceOwner, deviceLifetimeMs, signDevice } from "../../domain/device.ts";
import type { OwnAddress } from "../../http/csrf-guard.ts";
import { cookieNameOf, readCookie } from "../../http/session-cookie.ts";
import type { IdSource } from "../../lib/ids.ts";

const idLength = 22;
const pattern = /^([0-9A-Za-z]{22})\.(\d{1,15})\.([0-9a-f]{64})$/;

export function readDevice(settings: OwnAddress, request: Request): DeviceClaim | null {
  const sessionName = cookieNameOf(settings, request);
  const value = sessionName === null ? null : readCookie(request, deviceNameOf(sessionName), pattern);
  const [, id = "", issuedAt = "", signature = ""] = pattern.exec(value ?? "") ?? [];
  return id === "" ? null : { id, issuedAt: Number(issuedAt), signature };
}

/** `Set-Cookie` for a browser that has just signed in. Only the sign-in routes receive it. */
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

/** Without `__Host-`, which would send it with every request. */
function deviceNameOf(sessionName: string): string {
  return sessionName.startsWith("__Host-") ? "__Secure-companiond_device" : "companiond_device";
}
