/** The corpus that retrieval is measured by: passages in four languages, questions with their right passage, and questions that none answers. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const corpusLanguages = ["en", "de", "ja", "fr"] as const;
export type CorpusLanguage = (typeof corpusLanguages)[number];

export interface CorpusPassage {
  readonly language: CorpusLanguage;
  /** What stands above it. */
  readonly heading: string;
  readonly text: string;
}

export interface CorpusQuestion {
  readonly language: CorpusLanguage;
  readonly text: string;
  /** Index of the passage that answers it; null: none does. */
  readonly passage: number | null;
}

export interface KnowledgeCorpus {
  readonly passages: readonly CorpusPassage[];
  readonly questions: readonly CorpusQuestion[];
}

/**
 * A file for each language: `# ` begins a passage with its heading, `? ` is a question that it answers, `! ` one that
 * nothing in the corpus answers, and any other line is the passage's text.
 */
export function readCorpus(languages: readonly CorpusLanguage[] = corpusLanguages): KnowledgeCorpus {
  const passages: CorpusPassage[] = [];
  const questions: CorpusQuestion[] = [];
  for (const language of languages) {
    for (const line of readFileSync(join(import.meta.dir, "corpus", `${language}.txt`), "utf8").split("\n")) {
      const [sign, text] = [line.slice(0, 2), line.slice(2)];
      if (sign === "# ") passages.push({ language, heading: text, text: "" });
      else if (sign === "? ") questions.push({ language, text, passage: passages.length - 1 });
      else if (sign === "! ") questions.push({ language, text, passage: null });
      else if (line !== "") passages.push({ ...(passages.pop() as CorpusPassage), text: line });
    }
  }
  return { passages, questions };
}
