import { expect, test } from "bun:test";
import { isOnP256 } from "../../src/lib/curves.ts";

test("knows the points of the curve, as WebCrypto makes them", async () => {
  for (let i = 0; i < 20; i++) {
    const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
    const point = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
    const [x, y] = [point.slice(1, 33), point.slice(33)];
    expect(isOnP256(x, y)).toBe(true);
    expect(isOnP256(y, x)).toBe(false);
    y[31] = (y[31] ?? 0) ^ 1;
    expect(isOnP256(x, y)).toBe(false);
  }
});

test("refuses what is no element of the field", () => {
  const zero = new Uint8Array(32);
  expect(isOnP256(zero, zero)).toBe(false);
  expect(isOnP256(zero.fill(255), zero)).toBe(false);
});
