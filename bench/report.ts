/** The report: figures as ratios to what ran beside them, and the method, notes and profiles that are kept by hand. */

import { readFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { join } from "node:path";
import type { Report, StreamRow } from "./figures.ts";
import { renderGoals } from "./goals.ts";
import { renderKnowledgeReport } from "./knowledge/report.ts";
import { fixed, MiB, percent, table } from "./markdown.ts";
import { renderMetadata, renderShared } from "./report-stores.ts";
import { renderSlowDisk } from "./slow-disk.ts";
import type { StartFigures } from "./start-up.ts";
import { type ClosingFigures, closedInTimeMs, type StreamFigures } from "./streams.ts";

export function renderReport(report: Report): string {
  const sections = [
    "# Measured side by side",
    `Bun ${Bun.version}, Linux ${release()}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown CPU"}, ${new Date().toISOString().slice(0, 10)}; streams in ${report.rounds} rounds.`,
    renderGoals(report),
    readKept("METHOD.md"),
    renderStreams(report),
    renderFirstText(report),
    renderSlowDisk(report.disk),
    renderMemory(report),
    renderLeaving(report),
    renderConfig(report),
    renderStart(report),
    renderMicro(report),
    renderMetadata(report.metadata, "SQLite"),
    renderShared(report),
    renderKnowledgeReport(report.knowledge),
    ...["NOTES.md", "PROFILES.md"].map(readKept),
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

/** A section that is written by hand, in a file of its own beside this one. */
function readKept(file: string): string {
  return readFileSync(join(import.meta.dir, file), "utf8").trim();
}

type CostLoad = "one" | "eight" | "lockStep" | "paced";

function renderStreams({ streams }: Report): string {
  const servers = streams.filter((each) => each.one !== undefined);
  if (servers.length === 0) return "";
  const base = servers.find((each) => each.name === "pass-through");
  const costOf = (row: StreamRow | undefined, load: CostLoad | "request") =>
    row?.[load]?.cpuMicrosPerChunk ?? Number.NaN;
  const cost = (row: StreamRow, load: CostLoad | "request", digits = 2) =>
    `${fixed(costOf(row, load), digits)} (${fixed(costOf(row, load) / costOf(base, load))})`;
  const rate = (figures: StreamFigures | undefined) =>
    figures ? `${Math.round(figures.chunks / figures.seconds / 1000)} k, ${percent(figures.cpuShare)}` : "–";
  const saturated = servers.map((row) => [
    row.name,
    ...(["one", "eight", "lockStep"] as const).flatMap((load) => [cost(row, load), rate(row[load])]),
    cost(row, "request", 0),
  ]);
  const paced = streams.map((row) => [
    row.name,
    row.paced === undefined || row.one === undefined ? "" : cost(row, "paced"),
    row.one === undefined ? "" : percent(row.paced?.cpuShare ?? Number.NaN),
    `${fixed(row.paced?.chunkLatencyMs.p50 ?? Number.NaN)} / ${fixed(row.paced?.chunkLatencyMs.p99 ?? Number.NaN)}`,
  ]);
  const others = servers.flatMap((row) =>
    (["one", "eight", "lockStep", "paced"] as const).map((load) => row[load]?.othersShare ?? 0),
  );
  return [
    "## CPU per chunk, saturated",
    table(
      [
        "server",
        "one chunk a write: µs (× pass-through)",
        "chunks/s, CPU",
        "eight a write",
        "chunks/s, CPU",
        "lock step",
        "chunks/s, CPU",
        "a whole request of one chunk",
      ],
      saturated,
    ),
    `Processes that have no part in it took up to ${percent(Math.max(...others))} of the servers' core meanwhile.`,
    "## 500 streams of 50 chunks a second",
    table(
      ["server", "µs per chunk (× pass-through)", "CPU", "provider's write to visitor's read, ms p50 / p99"],
      paced,
    ),
  ].join("\n\n");
}

function renderFirstText({ streams }: Report): string {
  if (streams.length === 0) return "";
  const direct = streams.find((each) => each.one === undefined);
  const cells = (row: StreamRow, load: "first1" | "first50" | "first500") => {
    const [own, base] = [row[load]?.firstTextMs, direct?.[load]?.firstTextMs];
    if (own === undefined || base === undefined) return "–";
    if (row === direct) return `${fixed(own.p50)} / ${fixed(own.p99)}`;
    return `${fixed(own.p50)} / ${fixed(own.p99)} (+${fixed(own.p50 - base.p50)} / ${fixed(own.p99 - base.p99)})`;
  };
  const rows = streams.map((row) => [row.name, cells(row, "first1"), cells(row, "first50"), cells(row, "first500")]);
  const header = ["server", "1 visitor", "50 visitors", "500 visitors"];
  const note = "From the request to the first text, and what the server adds to the way without it.";
  return `## Time to first text (ms, p50 / p99)\n\n${note}\n\n${table(header, rows)}`;
}

function renderMemory({ memory }: Report): string {
  if (memory.length === 0) return "";
  const rows = memory.map(({ name, thousand, fiveThousand }) => [
    name,
    MiB(thousand.idleKiB),
    MiB(thousand.openKiB),
    MiB(fiveThousand.openKiB),
    `${fixed(thousand.perStreamKiB, 1)} / ${fixed((fiveThousand.openKiB - thousand.idleKiB) / 5_000, 1)}`,
    MiB(fiveThousand.afterKiB),
    fiveThousand.providerPeak,
    fiveThousand.providerAfter,
  ]);
  const header = [
    "server",
    "idle MiB",
    "1 000 open",
    "5 000 open",
    "KiB per stream at 1 000 / 5 000",
    "after all left",
    "provider streams at the peak",
    "afterwards",
  ];
  return `## Memory of quiet streams\n\n${table(header, rows)}`;
}

function renderLeaving({ leaving }: Report): string {
  if (leaving.length === 0) return "";
  const closing = ({ count, p50, p99, max, inTime }: ClosingFigures) =>
    `${fixed(p50)} / ${fixed(p99)} / ${fixed(max)} (${inTime} of ${count})`;
  const rows = leaving.map((each) => [
    each.name,
    closing(each.oneByOne),
    closing(each.together),
    each.providerAfter,
    [each.youngKiB, each.beforeKiB, each.midwayKiB, each.afterKiB].map(MiB).join(" / "),
  ]);
  const header = [
    "server",
    `at random moments: provider closed after ms p50 / p99 / max (within ${closedInTimeMs} ms)`,
    "400 at one blow",
    "provider streams left open",
    "MiB after 1 000 / 11 000 / 16 000 / 21 000 have left",
  ];
  return `## Visitors who leave midway\n\n${table(header, rows)}`;
}

function renderConfig({ config }: Report): string {
  if (config.length === 0) return "";
  const names = [...new Set(config.map((each) => each.name))];
  const mean = (name: string, pick: (each: Report["config"][number]) => number) => {
    const values = config.filter((each) => each.name === name).map(pick);
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  const base = mean("pass-through", (each) => each.perSecond);
  const titles: Record<string, string> = { "pass-through": "static `Bun.serve` response", nginx: "nginx, static file" };
  const rows = names.map((name) => {
    const perSecond = mean(name, (each) => each.perSecond);
    return [
      titles[name] ?? `${name}, GET config`,
      Math.round(perSecond),
      fixed(perSecond / base),
      fixed(mean(name, (each) => each.cpuMicros)),
      fixed(mean(name, (each) => each.p99Ms)),
    ];
  });
  return `## Config requests (64 connections)\n\n${table(["server", "requests/s", "× static", "CPU µs", "p99 ms"], rows)}`;
}

function renderStart({ start }: Report): string {
  if (start === null) return "";
  const { companiond, helloWorld, bunMiB } = start;
  const row = (name: string, figures: StartFigures) => [
    name,
    fixed(figures.firstResponseMs, 1),
    fixed(figures.firstResponseMs / helloWorld.firstResponseMs),
    MiB(figures.idleKiB),
    fixed(figures.sizeMiB, 1),
    fixed(figures.sizeMiB - bunMiB, 1),
  ];
  const header = [
    "executable",
    "spawn to first response, ms",
    "× hello-world",
    "idle MiB",
    "size MiB",
    "over Bun itself",
  ];
  return `## Start\n\n${table(header, [row("companiond", companiond), row("hello-world Elysia", helloWorld)])}`;
}

function renderMicro({ micro }: Report): string {
  if (micro === null) return "";
  const { keyCheck, limiterText } = micro;
  const rows = [
    ["SHA-256 of an API key", `${Math.round(keyCheck.sha256Nanos)} ns`],
    ["the same and one indexed lookup, bare", `${fixed(keyCheck.bareMicros)} µs`],
    [`API key check, uncached, among ${keyCheck.keys} keys`, `${fixed(keyCheck.checkMicros)} µs`],
  ];
  const code = "```";
  return `## Small parts\n\n${table(["what", "figure"], rows)}\n\nThe limiter:\n\n${code}\n${limiterText}\n${code}`;
}
