/** Texts for measuring by: as many different words, and as unevenly spread, as in natural language. The same in each run. */
import type { ReadDocument } from "../../src/domain/knowledge.ts";
import { createRandom } from "../../test/support/random.ts";

const vocabulary = 50_000;
/** Zipf's law as Mandelbrot has it, with what is measured of English: the word of rank r is as frequent as 1 / (r + 2.7)^1.07. */
const [shift, exponent] = [2.7, 1.07];
const wordsPerSection = 140;
const wordsPerSentence = 14;

const onsets = "b c d f g h j k l m n p r s t v w br cl dr fl gr pl pr sk sp st tr".split(" ");
const vowels = "a e i o u ai ea ou".split(" ");
const codas = "b d f g k l m n p r t nd rk lm st".split(" ");
const syllables = onsets.flatMap((onset) => vowels.flatMap((vowel) => codas.map((coda) => onset + vowel + coda)));

/** By rank: frequent words are short. */
function wordAt(rank: number): string {
  const mixed = (rank * 7919) % (syllables.length * syllables.length);
  const first = syllables[mixed % syllables.length] ?? "";
  return rank < 200 ? first : first + (syllables[Math.floor(mixed / syllables.length) ^ 1] ?? "");
}

export interface Writer {
  /** Frequent ones as often as language has them. */
  word(): string;
  words(count: number): string;
  /** The most frequent ones. */
  common(count: number): string;
  /** So many sections with a heading each: each becomes a passage of about a kilobyte. */
  markdown(sections: number): string;
}

export function createWriter(seed: number): Writer {
  const { next } = createRandom(seed);
  const words = Array.from({ length: vocabulary }, (_, rank) => wordAt(rank));
  const sums = new Float64Array(vocabulary);
  let sum = 0;
  for (let rank = 0; rank < vocabulary; rank++) {
    sum += 1 / (rank + 1 + shift) ** exponent;
    sums[rank] = sum;
  }

  function word(): string {
    const wanted = next() * sum;
    let [low, high] = [0, vocabulary - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] as number) < wanted) low = middle + 1;
      else high = middle;
    }
    return words[low] as string;
  }

  const several = (count: number) => Array.from({ length: count }, word).join(" ");

  function section(): string {
    let text = `## ${several(3)}\n\n`;
    for (let left = wordsPerSection; left > 0; left -= wordsPerSentence) text += `${several(wordsPerSentence)}. `;
    return `${text}\n\n`;
  }

  return {
    word,
    words: several,
    common: (count) => words.slice(0, count).join(" "),
    markdown: (sections) => Array.from({ length: sections }, section).join(""),
  };
}

export function toDocument(markdown: string): ReadDocument {
  return { title: null, pages: [{ number: null, markdown }] };
}
