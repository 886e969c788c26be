/** Prints what was measured of knowledge in a database and at the server. */
import { loadavg } from "node:os";
import { fixed, percent, table } from "../markdown.ts";
import type { StreamFigures } from "../streams.ts";
import { places } from "./evaluate.ts";
import type { Hold } from "./event-loop.ts";
import type { ServedFigures } from "./served.ts";
import type { StoredFigures } from "./stored.ts";
import type { HoldFigures } from "./whole-path.ts";

const hold = ({ wallMs, cpuMs, long }: Hold) => `${fixed(wallMs, 1)} / ${fixed(cpuMs, 1)} (${long})`;

export function renderStored(stored: readonly StoredFigures[], holds: readonly HoldFigures[]): string {
  const quality = stored.map(({ engine, quality: { questions, unanswerable, recall, differing } }) => [
    engine,
    fixed(recall, 3),
    `${questions + unanswerable - differing} of ${questions + unanswerable}`,
  ]);
  const retrieval = stored.flatMap(({ engine, retrieval }) =>
    retrieval.map(({ passages, companions, query, spread, hold: held }) => [
      engine,
      `${passages} of ${companions} ${companions === 1 ? "companion" : "companions"}`,
      query,
      `${fixed(spread.wallP50, 1)} / ${fixed(spread.wallP99, 1)}`,
      `${fixed(spread.cpuP50, 1)} / ${fixed(spread.cpuP99, 1)}`,
      hold(held),
    ]),
  );
  const rates = stored.flatMap(({ engine, rates }) =>
    rates.map(({ passages, wallSeconds, cpuSeconds }) => [
      engine,
      passages,
      fixed(passages / wallSeconds, 0),
      fixed(passages / cpuSeconds, 0),
    ]),
  );
  const held = holds.map((each) => [
    each.engine,
    `${each.what}, ${fixed(each.megabytes, 1)} MB`,
    each.passages,
    fixed(each.seconds, 1),
    hold(each.hold),
  ]);
  return [
    "### In a database",
    `Load of the machine at the end: ${loadavg()
      .map((load) => fixed(load, 1))
      .join(", ")}. Where it is more than one, the figures of the thread's own CPU say more than those of the clock.`,
    "The corpus, with each passage as a page of its own:",
    table(["engine", `recall@${places}`, "questions answered as in memory"], quality),
    "Retrieval, from the question to the passages:",
    table(
      [
        "engine",
        "passages",
        "question",
        "ms p50 / p99",
        "CPU, ms p50 / p99",
        "longest hold, ms / CPU (times over 10 ms)",
      ],
      retrieval,
    ),
    "Indexing, from the text to the answer:",
    table(["engine", "passages", "a second", "a second of CPU"], rates),
    "The event loop, while an upload is stored and the queue reads it:",
    table(["engine", "upload", "passages", "s", "longest hold, ms / CPU (times over 10 ms)"], held),
  ].join("\n\n");
}

export function renderServed({ messages, reading }: ServedFigures): string {
  const base = messages[0]?.micros ?? Number.NaN;
  const costs = messages.map(({ name, micros }) => [name, fixed(micros, 0), fixed(micros - base, 0)]);
  const spread = (pick: (of: StreamFigures) => number, quiet: StreamFigures, meanwhile: StreamFigures) =>
    `${fixed(pick(meanwhile), 1)} (${fixed(pick(meanwhile) / pick(quiet))})`;
  const rows = reading.map(({ name, read, quiet, meanwhile }) => [
    name,
    read,
    ...[
      (of: StreamFigures) => of.gapMs.p99,
      (of: StreamFigures) => of.gapMs.max,
      (of: StreamFigures) => of.chunkLatencyMs.p99,
      (of: StreamFigures) => of.chunkLatencyMs.max,
    ].map((pick) => spread(pick, quiet, meanwhile)),
    percent(quiet.othersShare),
  ]);
  return [
    "### At the server",
    "A whole request of one chunk; what a companion without sources pays since there is knowledge, `bun bench/compare.ts request 8 BEFORE AFTER` tells.",
    table(["a message of a companion", "CPU, µs", "more than without"], costs),
    "100 streams of 50 chunks a second, on the core on which documents are read, too: the wait from one chunk to the next, and the way from the provider to the visitor. In brackets the ratio to the same streams right before, while nothing is read.",
    table(
      [
        "meanwhile are read",
        "of them",
        "gap p99, ms",
        "longest gap",
        "way p99, ms",
        "longest way",
        "others on the core",
      ],
      rows,
    ),
  ].join("\n\n");
}
