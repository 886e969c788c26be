/** The edit distance of two words, for "did you mean": insertions, deletions, replacements and swaps of neighbours. */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}

/**
 * The candidate that was meant: one that differs in a third of the word's letters at most, or begins as the word does, or
 * the word as it. The closest one, and the first one of a tie; null if none is that near.
 */
export function findNearest(word: string, candidates: Iterable<string>): string | null {
  let nearest: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  if (word === "") return null;
  for (const candidate of candidates) {
    const distance = editDistance(word, candidate);
    const isNear = distance * 3 <= word.length || candidate.startsWith(word) || word.startsWith(candidate);
    if (isNear && distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}
