/** The table of `docs/faults.md`: one line and one section for each row, of which a later run replaces its own alone. */
import { type FaultRow, listFailures, type Outcome } from "./row.ts";

export interface Facts {
  seed: number;
  form: "short" | "long";
  day: string;
  build: { version: string; commit: string; build: { target: string; bun: string } };
}

const opening = `# What was done to it, and what happened

\`bun run faults\` starts the compiled executable with mock providers behind it, makes trouble in every way of this table,
and counts. A row has passed when every count is what it had to be; no verdict depends on how long something took. What is
random comes of the seed: \`bun run faults --only NAME --seed N\` does the same again, as far as the machine's own timing lets
it. \`--short\` runs the mixed load for a minute instead of an hour; all other rows are the same in both forms. A row that
was run again has its own date, seed and build.
`;

const head = "| row | what was done | what happened | verdict | run |\n|---|---|---|---|---|";

/** The report with this row's line and section in place of its earlier ones. */
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
  return new Map(parts.map((part) => [/^## ([a-z-]+)/.exec(part)?.[1] ?? "", part]));
}

function renderLine({ name, title }: FaultRow, outcome: Outcome, facts: Facts): string {
  // Kinds of the same thing (`chats: cut`, `chats: reset`) as one; the section tells them apart.
  const byNoun = Map.groupBy(outcome.done, ({ what }) => what.split(":", 1)[0] ?? what);
  const done = [...byNoun]
    .map(([noun, kinds]) => {
      const times = kinds.reduce((sum, kind) => sum + kind.times, 0);
      return `${formatCount(times)} ${noun}${kinds.length > 1 ? ` of ${kinds.length} kinds` : ""}`;
    })
    .join(", ");
  const happened = outcome.checks.map(({ what, counted }) => `${formatCount(counted)} ${what}`).join(", ");
  const cells = [
    `[${name}](#${name})`,
    outcome.skipped === null ? `${title}: ${done}` : title,
    outcome.skipped ?? happened,
    verdictOf(outcome),
    `${facts.day}, ${facts.form}, seed ${facts.seed}, ${facts.build.commit}`,
  ];
  return `| ${cells.map(toCell).join(" | ")} |`;
}

function renderSection({ name, title }: FaultRow, outcome: Outcome, { form, day, seed, build }: Facts): string {
  const checks = outcome.checks.map(
    ({ what, counted, expected, isOk }) =>
      `| ${toCell(what)} | ${formatCount(counted)} | ${expected} | ${isOk ? "ok" : "**failed**"} |`,
  );
  const failures = listFailures(outcome).map((failure) => `- ${toCell(failure)}`);
  return [
    `## ${name}`,
    "",
    `${title[0]?.toUpperCase()}${title.slice(1)}. ${day}, ${form} form, seed ${seed}, companiond ${build.version} (${build.commit}, ${build.build.target}).`,
    "",
    ...(outcome.skipped === null ? [] : [`Skipped: ${outcome.skipped}`, ""]),
    ...outcome.done.map(({ what, times }) => `- ${formatCount(times)} ${what}`),
    "",
    ...(checks.length > 0 ? ["| counted | was | had to be | |", "|---|---|---|---|", ...checks, ""] : []),
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

/** One line of a table, whatever is in it: what was sent is hostile on purpose. */
function toCell(text: string): string {
  return text
    .replace(/[\s\p{C}]+/gu, " ")
    .replaceAll("\\", "\\\\")
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;");
}
