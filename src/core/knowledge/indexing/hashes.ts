/** Hashes of what sources say, by which an unchanged one is known. */
import type { ReadDocument } from "../../../domain/knowledge.ts";
import { Slices } from "../../../lib/pause.ts";
import { sha256Hex } from "../../../lib/sha256.ts";

/** A millisecond's work. */
const sliceUnits = 256 * 1024;

/** Of the text alone, its pages divided by a form feed. */
export async function hashDocument({ pages }: ReadDocument): Promise<string> {
  const hash = new Bun.SHA256();
  const slices = new Slices();
  for (const [index, { markdown }] of pages.entries()) {
    if (index > 0) hash.update("\f");
    for (let from = 0; from < markdown.length; ) {
      let end = Math.min(markdown.length, from + sliceUnits);
      // Each half of a pair would be hashed as a replacement character.
      if (end < markdown.length && (markdown.codePointAt(end - 1) ?? 0) > 0xffff) end--;
      hash.update(markdown.slice(from, end));
      from = end;
      if (slices.isOver) await slices.pause();
    }
  }
  return hash.digest("hex");
}

/** Of many documents in order, each by its address and its hash. */
export function hashDocuments(documents: readonly { url: string | null; contentHash: string }[]): string {
  return sha256Hex(documents.map(({ url, contentHash }) => `${url ?? ""} ${contentHash}\n`).join(""));
}
