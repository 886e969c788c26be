/** The curve of Ed25519 (RFC 8032, 5.1): which public keys verify only what their owner has signed. */

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
 * - `off`: no point of the curve, or one that is written in another way than the standard's.
 * - `weak`: a point of small order. Signatures that anybody can make are valid for it, whatever is signed.
 *
 * Imports of keys look at neither.
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
