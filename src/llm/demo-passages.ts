/** Finds what the demo quotes of a companion's knowledge: the paragraph that shares most words with the message. */
import { type HistoryMessage, textOf } from "../domain/conversation.ts";

export interface Quotation {
  /** The passage's number in this request. */
  readonly n: number;
  readonly text: string;
}

/** Whether it is the message that brings passages; see `passages-message.ts`. */
export function bringsPassages(message: HistoryMessage): boolean {
  return findFence(textOf(message)) !== null;
}

function findFence(text: string): string | null {
  return /begins with the line "(\S{10,100}) passage"/.exec(text)?.[1] ?? null;
}

/** Null where nothing fits. */
export function findQuotation(messages: readonly HistoryMessage[], message: string): Quotation | null {
  const asked = wordsOf(message);
  let best: Quotation | null = null;
  let bestShared = 0;
  for (const { n, text } of messages.flatMap((one) => listPassages(textOf(one)))) {
    for (const paragraph of text.split(/\n\s*\n/)) {
      const shared = [...wordsOf(paragraph)].filter((word) => asked.has(word)).length;
      if (shared <= bestShared) continue;
      // Cut-off markup would swallow the number behind it.
      best = { n, text: paragraph.replace(/[`*_#|>~[\]]/g, "").trim() };
      bestShared = shared;
    }
  }
  return best;
}

function listPassages(text: string): Quotation[] {
  const fence = findFence(text);
  if (fence === null) return [];
  return text
    .split(`${fence} passage `)
    .slice(2)
    .map((part) => {
      const [facts = "", ...rest] = (part.split(`\n${fence} end`)[0] ?? "").split("\n\n");
      return { n: Number.parseInt(facts, 10), text: rest.join("\n\n") };
    });
}

/** Words that say something: shorter ones are nearly all articles and pronouns. */
function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu));
}
