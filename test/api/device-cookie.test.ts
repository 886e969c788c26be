/** The cookie of a browser that signed in before: whose it is, and for how long. */
import { expect, test } from "bun:test";
import { readDevice, renderDeviceCookie } from "../../src/api/session/sign-in-guard.ts";
import { isDeviceOf } from "../../src/domain/session.ts";
import { systemIds } from "../../src/lib/ids.ts";

const nowMs = Date.UTC(2026, 0, 15);
const dayMs = 86_400_000;
const owner = { id: "account-1", passwordHash: "$argon2id$one", totpConfirmedAt: null };
const settings = { trustedProxies: 0, isTls: false, publicUrl: null };

function claimOf(cookie: string) {
  return readDevice(
    settings,
    new Request("http://localhost:3000/api/session", { headers: { cookie, host: "localhost:3000" } }),
  );
}

function giveOut(): string {
  return renderDeviceCookie("companiond_session", owner, { ids: systemIds, nowMs }).split(";", 1)[0] ?? "";
}

test("holds for the account that it was given for, with the password and second factor of that day, for 400 days", () => {
  const claim = claimOf(`a=b; companiond_device=junk; ${giveOut()}`);
  if (claim === null) throw new Error("the cookie was not found");
  expect(isDeviceOf(claim, owner, nowMs)).toBe(true);
  expect(isDeviceOf(claim, owner, nowMs + 399 * dayMs)).toBe(true);
  expect(isDeviceOf(claim, owner, nowMs + 400 * dayMs)).toBe(false);
  expect(isDeviceOf(claim, { ...owner, id: "account-2" }, nowMs)).toBe(false);
  expect(isDeviceOf(claim, { ...owner, passwordHash: "$argon2id$two" }, nowMs)).toBe(false);
  expect(isDeviceOf(claim, { ...owner, totpConfirmedAt: nowMs }, nowMs)).toBe(false);
});

test("holds only as it was given", () => {
  const claim = claimOf(giveOut());
  if (claim === null) throw new Error("the cookie was not found");
  expect(isDeviceOf({ ...claim, id: systemIds.secret(22) }, owner, nowMs)).toBe(false);
  expect(isDeviceOf({ ...claim, issuedAt: nowMs + dayMs }, owner, nowMs)).toBe(false);
  expect(isDeviceOf({ ...claim, signature: "0".repeat(64) }, owner, nowMs)).toBe(false);
  for (const cookie of ["", "companiond_device=", "companiond_device=a.b.c", giveOut().replace("device", "session")]) {
    expect(claimOf(cookie)).toBeNull();
  }
});
