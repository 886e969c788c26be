/** Terms as numbers: the index holds no words, so that none is left in a file once its source is deleted. */

/**
 * From 0 to 2^53 - 1, the same for the same term on every machine: two hashes (MurmurHash3). Among a million terms, two
 * share a number with a chance of one in 18 000; a passage is then found by a word that it does not have.
 */
export function termNumberOf(term: string): number {
  const high = Bun.hash.murmur32v3(term, 1) & 0x1fffff;
  const low = Bun.hash.murmur32v3(term, 2) >>> 0;
  return high * 2 ** 32 + low;
}
