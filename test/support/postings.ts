/** The lists of the index for some passages, all together, by terms: in tests these may be distinguished. */
import { BlockPostings } from "../../src/core/knowledge/retrieval/postings.ts";
import type { Terms } from "../../src/core/knowledge/words/terms.ts";

export function buildPostings(passages: readonly Terms[]): Map<string, Uint8Array> {
  const terms: string[] = [];
  const block = new BlockPostings((term) => terms.push(term) - 1);
  for (const passage of passages) block.add(passage);
  return new Map(block.lists().map(([number, list]) => [terms[number] as string, list]));
}
