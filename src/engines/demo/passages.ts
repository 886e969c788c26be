/** Finds what the demo quotes of a companion's knowledge: the paragraph that shares most words with the message. */
import { type HistoryMessage, textOf } from "../../domain/conversation.ts";

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
    let heading = "";
    for (const paragraph of text.split(/\n\s*\n/)) {
      // A heading answers nothing, but names the subject of the paragraphs below it.
      if (/^#{1,6} .*$/.test(paragraph.trim())) {
        heading = paragraph;
        continue;
      }
      const shared = [...wordsOf(`${heading}\n${paragraph}`)].filter((word) => asked.has(word)).length;
      if (shared <= bestShared) continue;
      best = { n, text: toPlainText(paragraph) };
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
    .slice(1)
    .map((part) => {
      const [facts = "", ...rest] = (part.split(`\n${fence} end`)[0] ?? "").split("\n\n");
      return { n: Number.parseInt(facts, 10), text: rest.join("\n\n") };
    });
}

/** Cut-off markup would swallow the number behind it. A table's rows are separated by semicolons, its cells by commas. */
function toPlainText(paragraph: string): string {
  return paragraph
    .split("\n")
    .filter((line) => !/^\s*\|[\s|:-]+$/.test(line))
    .map((line) =>
      line
        .replace(/^\s*\|\s*|\s*\|\s*$/g, "")
        .replace(/\s*\|\s*/g, ", ")
        .replace(/[`*_#>~[\]]/g, ""),
    )
    .join(paragraph.trimStart().startsWith("|") ? "; " : "\n")
    .trim();
}

/** Words with a meaning of their own: shorter ones are nearly all articles and pronouns. */
export function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu));
}
