/** Constant-time comparison. */

/**
 * Throws a `RangeError` unless both have the same length. Compare digests, so that the length reveals nothing either.
 */
export function isSameInConstantTime(left: Uint8Array, right: Uint8Array): boolean {
  // Loaded on demand: an import would add milliseconds to every start, and few requests need it.
  return process.getBuiltinModule("node:crypto").timingSafeEqual(left, right);
}
