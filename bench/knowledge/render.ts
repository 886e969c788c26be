/** Prints what was measured of retrieval by words. */
import { fixed, percent, table } from "../markdown.ts";
import { places, type Quality } from "./evaluate.ts";
import { type KnowledgeFigures, sumOf } from "./measure.ts";

export function renderKnowledge(figures: KnowledgeFigures): string {
  const { quality, alone, indexing, ranking } = figures;
  const row = (name: string, each: Quality) => [
    name,
    each.questions,
    fixed(each.recall, 3),
    fixed(each.meanReciprocalRank, 3),
    percent(each.found),
    `${percent(each.recognised)} of ${each.unanswerable}`,
  ];
  const header = ["questions in", "number", `recall@${places}`, "MRR", "taken as answered", "unanswerable recognised"];
  const rows = [
    ...quality.map((each) => row(each.language, each)),
    ...alone.map((each) => row(`${each.language}, without the passages of the others`, each)),
  ];
  const missed = quality.at(-1)?.missed ?? [];
  const costs = indexing.map((each) => [
    each.name,
    fixed((each.chunks / sumOf(each)) * 1000, 0),
    fixed((each.cutMs * 1000) / each.chunks, 0),
    fixed((each.termsMs * 1000) / each.chunks, 0),
    fixed((each.postingsMs * 1000) / each.chunks, 0),
    fixed((each.terms / each.termsMs) * 1000, 0),
    fixed((each.megabytes * 1e6) / each.chunks, 0),
  ]);
  const costHeader = ["language", "chunks/s", "cut, µs", "terms, µs", "lists, µs", "terms/s", "bytes a chunk"];
  return [
    "## Knowledge: what words find",
    table(header, rows),
    missed.length === 0 ? "" : `Not found: ${missed.join(" · ")}`,
    "What cutting a document and making its part of the index takes, without storing it:",
    table(costHeader, costs),
    `Ranking ${ranking.chunks} passages by ${ranking.terms} words that stand in all of them: ${fixed(ranking.ms, 1)} ms, the longest slice ${fixed(ranking.maxSliceMs, 2)} ms.`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}
