/** Hashes of what sources say, by which an unchanged one is known. */
import type { ReadDocument } from "../../domain/knowledge.ts";
import { sha256Hex } from "../../lib/sha256.ts";

/** Of the text alone, its pages divided by a form feed. */
export function hashDocument({ pages }: ReadDocument): string {
  return sha256Hex(pages.map(({ markdown }) => markdown).join("\f"));
}

/** Of many documents in order, each by its address and its hash. */
export function hashDocuments(documents: readonly { url: string | null; contentHash: string }[]): string {
  return sha256Hex(documents.map(({ url, contentHash }) => `${url ?? ""} ${contentHash}\n`).join(""));
}
