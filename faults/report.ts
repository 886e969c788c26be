/** The table of `docs/faults.md`: one line and one section for each row. A later run replaces only its own rows. */
import { type Check, type FaultRow, listFailures, type Outcome } from "./row.ts";

export interface Facts {
  seed: number;
  form: "short" | "long";
  day: string;
  build: { version: string; commit: string; build: { target: string; bun: string } };
}

const opening = `# Fault tests and their results

\`bun run faults\` starts the compiled executable as an operator does, with mock providers, provokes every kind of trouble
in this table, and counts what happens. A row has passed if every count is as expected; no verdict depends on how long
something took, but for \`heavy-calls\`, which counts processor time. Random choices follow the seed: \`bun run faults
--only NAME --seed N\` repeats them, as far as the machine's timing allows. Every response is checked against the OpenAPI
document: one that it does not describe is counted as undocumented. A 5xx is counted unless the trouble is of a kind that
must be answered with one.

The mixed load lasts an hour, or a minute with \`--short\`, people and visitors in browsers (\`--only people-browsers\`) ten
minutes, or two, and the rows of a cluster (\`bun run faults --cluster\`: three instances behind nginx, on one PostgreSQL and
one Redis) have fewer rounds; all other rows are the same in both forms. A row that was run again has its own date, seed
and build. A plus sign after the build means that it had uncommitted changes. The tests of every commit (\`bun run ci\`)
run a small part of each row.
`;

const head = "| row | what was done | result | verdict | run |\n|---|---|---|---|---|";

/** The report with this row's line and section replaced. */
export function mergeReport(
  before: string,
  rows: readonly FaultRow[],
  row: FaultRow,
  outcome: Outcome,
  facts: Facts,
): string {
  const lines = readLines(before);
  const sections = readSections(before);
  lines.set(row.name, renderLine(row, outcome, facts));
  sections.set(row.name, renderSection(row, outcome, facts));
  const inOrder = (parts: ReadonlyMap<string, string>) => rows.flatMap(({ name }) => parts.get(name) ?? []);
  return `${[opening, [head, ...inOrder(lines)].join("\n"), "", ...inOrder(sections)].join("\n").trimEnd()}\n`;
}

export function renderTable(report: string): string {
  return [head, ...readLines(report).values()].join("\n");
}

function readLines(report: string): Map<string, string> {
  const found = [...report.matchAll(/^\| \[([a-z-]+)\].*$/gm)];
  return new Map(found.map(([line, name = ""]) => [name, line]));
}

function readSections(report: string): Map<string, string> {
  const [, ...parts] = report.split(/^(?=## )/m);
  return new Map(parts.map((part) => [/^## ([a-z-]+)/.exec(part)?.[1] ?? "", `${part.trimEnd()}\n`]));
}

function renderLine({ name, title }: FaultRow, outcome: Outcome, facts: Facts): string {
  // Merge kinds of the same thing (`chats: cut`, `chats: reset`); the section lists them separately.
  const done = groupByNoun(outcome).map(({ noun, times, kinds }) => {
    return `${formatCount(times)} ${noun}${kinds.length > 1 ? ` of ${kinds.length} kinds` : ""}`;
  });
  const cells = [
    `[${name}](#${name})`,
    outcome.skipped === null ? `${title}: ${done.join(", ")}` : title,
    outcome.skipped ?? renderHappened(outcome),
    verdictOf(outcome),
    `${facts.day}, seed ${facts.seed}, ${facts.build.commit}`,
  ];
  return `| ${cells.map(toCell).join(" | ")} |`;
}

/** Faults that did not happen are merged; counts with other expectations are listed one by one. */
function renderHappened({ checks }: Outcome): string {
  const isNothing = ({ counted, expected }: Check) => counted === 0 && expected === "0";
  const figures = checks.filter((check) => !isNothing(check));
  const nothing = checks.filter(isNothing).map(({ what }) => what);
  const shown = figures.map(
    ({ what, counted, isOk }) => `${isOk ? "" : "**"}${formatCount(counted)} ${what}${isOk ? "" : "**"}`,
  );
  return [...shown, ...(nothing.length > 0 ? [`0 ${nothing.join(", 0 ")}`] : [])].join("; ");
}

interface Deed {
  noun: string;
  times: number;
  kinds: { what: string; times: number }[];
}

function groupByNoun({ done }: Outcome): Deed[] {
  const byNoun = Map.groupBy(done, ({ what }) => what.split(":", 1)[0] ?? what);
  return [...byNoun].map(([noun, kinds]) => ({
    noun,
    times: kinds.reduce((sum, { times }) => sum + times, 0),
    kinds: kinds.map(({ what, times }) => ({ what: what.slice(noun.length + 2), times })),
  }));
}

function renderDeed({ noun, times, kinds }: Deed): string {
  const each = kinds.filter(({ what }) => what !== "").map((kind) => `${formatCount(kind.times)} ${kind.what}`);
  return `${formatCount(times)} ${noun}${each.length > 0 ? ` (${each.join(", ")})` : ""}`;
}

function renderSection({ name, title, story }: FaultRow, outcome: Outcome, { day, seed, build }: Facts): string {
  const checks = outcome.checks.map(
    ({ what, counted, expected, isOk }) =>
      `| ${toCell(what)} | ${formatCount(counted)} | ${expected} | ${isOk ? "ok" : "**failed**"} |`,
  );
  const failures = listFailures(outcome).map((failure) => `- ${toCell(failure)}`);
  return [
    `## ${name}`,
    "",
    `${title[0]?.toUpperCase()}${title.slice(1)}. ${story}`,
    "",
    `${day}, seed ${seed}, companiond ${build.version} (${build.commit}, ${build.build.target}): ${
      outcome.skipped === null
        ? `${groupByNoun(outcome).map(renderDeed).map(toCell).join(", ")}.`
        : `skipped. ${outcome.skipped}`
    }`,
    "",
    ...(checks.length > 0 ? ["| counted | actual | expected | |", "|---|---|---|---|", ...checks, ""] : []),
    ...(failures.length > 0 ? ["What went wrong:", "", ...failures, ""] : []),
  ].join("\n");
}

function verdictOf(outcome: Outcome): string {
  if (outcome.skipped !== null) return "skipped";
  return outcome.checks.every((check) => check.isOk) ? "passed" : "**failed**";
}

function formatCount(count: number): string {
  return Number.isInteger(count) ? count.toLocaleString("en").replaceAll(",", " ") : count.toFixed(1);
}

/** One table cell, whatever it contains: payloads are hostile on purpose. */
function toCell(text: string): string {
  return text
    .replace(/[\s\p{C}]+/gu, " ")
    .replaceAll("\\", "\\\\")
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;");
}
