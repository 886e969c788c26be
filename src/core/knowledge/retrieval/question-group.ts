/** Names questions that ask the same. */
import { sha256Hex } from "../../../lib/sha256.ts";

/**
 * A UUID (version 8) of the words that a question is about, in any order; words are in the form of the index, so
 * that inflections and capitals make no difference. It reveals the words only to those who guess them.
 */
export function nameQuestion(companionId: string, topic: ReadonlySet<string>): string {
  const hex = sha256Hex([companionId, ...[...topic].sort()].join("\n"));
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
