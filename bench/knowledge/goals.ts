/** What knowledge is to show, on one core with SQLite. */
import type { Goal } from "../figures.ts";
import { fixed } from "../markdown.ts";
import type { KnowledgeReport } from "./report.ts";

/** By the number of passages. Five words that nearly every passage has are the worst that people ask. */
const retrievalGoals = [
  { passages: 10_000, limitMs: 15 },
  { passages: 100_000, limitMs: 60 },
];

export function findKnowledgeGoals(report: KnowledgeReport | null): Goal[] {
  if (report === null) return [];
  const { inMemory, stored, holds } = report;
  const recall = inMemory.quality.at(-1)?.recall ?? Number.NaN;
  const differing = stored.reduce((sum, { quality }) => sum + quality.differing, 0);
  const sqlite = stored[0];
  const own = retrievalGoals.map(({ passages, limitMs }): Goal => {
    const figures = sqlite?.retrieval.filter((each) => each.passages === passages) ?? [];
    const worst = Math.max(...figures.map(({ spread }) => spread.wallP99));
    const what = `retrieval among ${passages} passages of one account: p99 under ${limitMs} ms, also of 48 frequent words`;
    return { what, isReached: worst < limitMs, figure: `${fixed(worst, 1)} ms` };
  });
  const slowest = Math.min(...(sqlite?.rates.map((each) => each.passages / each.wallSeconds) ?? []));
  const perCpu = Math.min(...(sqlite?.rates.map((each) => each.passages / each.cpuSeconds) ?? []));
  const held = [
    ...stored.flatMap(({ retrieval }) => retrieval.map(({ hold }) => hold)),
    ...holds.map((each) => each.hold),
  ];
  const longest = Math.max(...held.map(({ cpuMs }) => cpuMs));
  return [
    {
      what: "recall@8 of the corpus at least 0.95 by words alone, the same on disk",
      isReached: recall >= 0.95 && differing === 0,
      figure: `${fixed(recall, 3)}, ${differing} answers differ`,
    },
    ...own,
    {
      what: "2 000 passages a second cut, indexed and stored",
      isReached: slowest >= 2_000,
      figure: `${fixed(slowest, 0)}, ${fixed(perCpu, 0)} a second of CPU`,
    },
    {
      what: "neither retrieval nor indexing works more than 10 ms in one go",
      isReached: longest <= 10,
      figure: `${fixed(longest, 1)} ms`,
    },
  ];
}
