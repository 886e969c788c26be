/** How many labels of usage get into the metadata index with one commit. */

interface UnindexedLabel {
  number: number;
  /** Characters of its metadata. */
  size: number;
}

export const mostLabelsPerSlice = 250;
/** A value takes eight characters at least: some hundred rows of the index. */
const mostCharacters = 16_384;

/** The first of them, at least one, as many as are some milliseconds of work. */
export function cutSlice(labels: readonly UnindexedLabel[]): number[] {
  const numbers: number[] = [];
  let characters = 0;
  for (const { number, size } of labels) {
    characters += size;
    if (numbers.length > 0 && characters > mostCharacters) break;
    numbers.push(number);
  }
  return numbers;
}
