/** The curve P-256 (FIPS 186-5, SP 800-186): whether a point is on it. */

const prime = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

/**
 * Bun finds out too when it imports a key, but leaves OpenSSL's error behind, and the next use of another key fails
 * with it.
 */
export function isOnP256(x: Uint8Array, y: Uint8Array): boolean {
  const [xNumber, yNumber] = [toNumber(x), toNumber(y)];
  if (xNumber >= prime || yNumber >= prime) return false;
  return (yNumber * yNumber - (xNumber ** 3n - 3n * xNumber + b)) % prime === 0n;
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytes.toHex()}`);
}
