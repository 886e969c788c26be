/** What tests of the SDK share: a storage that shows what it keeps, and a reply read to its end. */
import type { CompanionError, TextStorage } from "../../src/web/sdk/index.ts";

export function openMemory(): Required<TextStorage> & { kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
}

/** The text, and how the reply failed where it did. */
export async function collect(reply: AsyncIterable<string>): Promise<{ text: string; error: CompanionError | null }> {
  let text = "";
  try {
    for await (const fragment of reply) text += fragment;
  } catch (error) {
    return { text, error: error as CompanionError };
  }
  return { text, error: null };
}
