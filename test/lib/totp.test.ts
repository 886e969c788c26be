/** Time-based one-time passwords: the vectors of the RFC, and a second implementation. */
import { expect, test } from "bun:test";
import * as otpauth from "otpauth";
import { findTotpStep, otpauthUrl, toBase32, totpCode, totpStep } from "../../src/lib/totp.ts";

const rfcSecret = new TextEncoder().encode("12345678901234567890");

// RFC 6238, appendix B, SHA-1: codes of eight digits, of which our six are the last ones.
test.each([
  [59, "94287082"],
  [1111111109, "07081804"],
  [1111111111, "14050471"],
  [1234567890, "89005924"],
  [2000000000, "69279037"],
  [20000000000, "65353130"],
])("at %d seconds the code of the RFC's secret ends %s", (seconds, code) => {
  expect(totpCode(rfcSecret, totpStep(seconds * 1000))).toBe(code.slice(-6));
});

// RFC 4648, section 10.
test.each([
  ["", ""],
  ["f", "MY"],
  ["fo", "MZXQ"],
  ["foo", "MZXW6"],
  ["foob", "MZXW6YQ"],
  ["fooba", "MZXW6YTB"],
  ["foobar", "MZXW6YTBOI"],
])("%p is %p in base 32", (text, encoded) => {
  expect(toBase32(new TextEncoder().encode(text))).toBe(encoded);
});

test("an app that reads our QR code shows the codes that we take", () => {
  const secret = crypto.getRandomValues(new Uint8Array(20));
  const url = otpauthUrl(secret, { issuer: "companiond chat.example", account: "ada+test@shop.example" });
  const app = otpauth.URI.parse(url);
  if (!(app instanceof otpauth.TOTP)) throw new Error("not read as a one-time password by time");
  expect(app).toMatchObject({
    issuer: "companiond chat.example",
    label: "ada+test@shop.example",
    algorithm: "SHA1",
    digits: 6,
    period: 30,
  });
  for (let minute = 0; minute < 100; minute++) {
    const nowMs = 1_700_000_000_000 + minute * 61_000;
    const code = app.generate({ timestamp: nowMs });
    expect(findTotpStep(secret, code, { nowMs, lastStep: null })).toBe(totpStep(nowMs));
  }
});

test("a code counts for its step and one on either side, and only after the last one that was taken", () => {
  const nowMs = 50_000_000_000;
  const now = totpStep(nowMs);
  const find = (step: number, lastStep: number | null = null) =>
    findTotpStep(rfcSecret, totpCode(rfcSecret, step), { nowMs, lastStep });
  expect([-2, -1, 0, 1, 2].map((offset) => find(now + offset))).toEqual([null, now - 1, now, now + 1, null]);
  expect(find(now, now)).toBeNull();
  expect(find(now, now - 1)).toBe(now);
  expect(find(now - 1, now)).toBeNull();
});
