/** Joins rankings that were made in different ways: by reciprocal rank, since their scores do not compare. */
import type { Ranked } from "./bm25.ts";

/** The usual constant: how little the first place is above the second. */
const smoothing = 60;

/** The scores are of the fusion; equal ones by edition and ordinal. */
export function fuseRankings(
  rankings: readonly (readonly Pick<Ranked, "edition" | "ordinal">[])[],
  limit: number,
): Ranked[] {
  const fused = new Map<string, { edition: number; ordinal: number; score: number }>();
  for (const ranking of rankings) {
    ranking.forEach(({ edition, ordinal }, place) => {
      const key = `${edition}/${ordinal}`;
      const entry = fused.get(key) ?? { edition, ordinal, score: 0 };
      entry.score += 1 / (smoothing + place + 1);
      fused.set(key, entry);
    });
  }
  return [...fused.values()]
    .sort((a, b) => b.score - a.score || a.edition - b.edition || a.ordinal - b.ordinal)
    .slice(0, limit);
}
