/** Comparison that takes the same time wherever two values differ. */

/** Both of one length, or it throws a `RangeError`: compare digests, since lengths must not tell either. */
export function isSameInConstantTime(left: Uint8Array, right: Uint8Array): boolean {
  // Not imported: loading it takes milliseconds of a start, and few requests need it.
  return process.getBuiltinModule("node:crypto").timingSafeEqual(left, right);
}
