/** The curves of Ed25519 (RFC 8032, 5.1) and P-256 (FIPS 186-5, SP 800-186): which points are good public keys. */

const prime = 2n ** 255n - 19n;
const d = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n;
/** The y of the points whose order is 8 or less; their x has either sign. */
const ofSmallOrder: ReadonlySet<bigint> = new Set([
  0n,
  1n,
  prime - 1n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
]);

/**
 * - `off`: no point of the curve, or one in another encoding than the standard's.
 * - `weak`: a point of small order. Signatures that anyone can make are valid for it, for any message.
 *
 * Imports of keys check neither.
 */
export function judgeEd25519Key(key: Uint8Array): "good" | "weak" | "off" {
  const y = BigInt(`0x${Uint8Array.from(key).reverse().toHex()}`) & (2n ** 255n - 1n);
  if (ofSmallOrder.has(y % prime)) return "weak";
  const square = (y * y) % prime;
  // x² is the one by the other: a square only where their product is one.
  const product = ((square - 1n) * (d * square + 1n)) % prime;
  return y < prime && isSquare(product) ? "good" : "off";
}

/** By Euler's criterion. */
function isSquare(value: bigint): boolean {
  let power = 1n;
  let base = value;
  for (let left = (prime - 1n) / 2n; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) power = (power * base) % prime;
    base = (base * base) % prime;
  }
  return power === 1n;
}

const p256Prime = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const p256B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

/**
 * The curve P-256 (FIPS 186-5, SP 800-186): whether a point is on it. Bun finds out too when it imports a key, but
 * leaves OpenSSL's error behind, and the next use of another key fails with it.
 */
export function isOnP256(x: Uint8Array, y: Uint8Array): boolean {
  const [xNumber, yNumber] = [toNumber(x), toNumber(y)];
  if (xNumber >= p256Prime || yNumber >= p256Prime) return false;
  return (yNumber * yNumber - (xNumber ** 3n - 3n * xNumber + p256B)) % p256Prime === 0n;
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytes.toHex()}`);
}
