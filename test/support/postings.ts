/** The lists of the index for some passages, all at once. */
import { BlockPostings } from "../../src/knowledge/retrieval/block-postings.ts";
import type { Terms } from "../../src/knowledge/words/terms.ts";

export function buildPostings(passages: readonly Terms[]): Map<string, Uint8Array> {
  const block = new BlockPostings();
  for (const terms of passages) block.add(terms);
  return new Map(block.lists());
}
