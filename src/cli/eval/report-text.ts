/** The report of evals for people: what has not passed, with the reply that did not, and a last line that counts. */
import { countPasses, findingsOf, toLine, toPlain } from "../../core/evals/findings.ts";
import { type CaseResult, countCases, type EvalReport } from "../../core/evals/result.ts";

const words = { passed: "passed ", failed: "FAILED ", error: "ERROR  ", skipped: "skipped" } as const;
const maxReplyCharacters = 1000;

export function formatReport(report: EvalReport): string {
  const { suites, faults, problems, stopped, stale } = report;
  const lines: string[] = [];
  for (const { file, line, sentence } of faults) lines.push(toLine(`${file}:${line}: ${sentence}`));
  lines.push(...problems.map(toLine));
  for (const { suite, cases } of suites) {
    lines.push(toLine(`${suite.name} (${suite.companion}, ${suite.file})`), ...cases.flatMap(describeCase), "");
  }
  if (stopped !== null) lines.push(`Stopped: ${toLine(stopped.detail)}`);
  for (const name of stale ?? []) lines.push(toLine(`Nothing asked for ${name}: delete it if no other run does.`));
  lines.push(summarize(report));
  return lines.join("\n");
}

function describeCase(result: CaseResult): string[] {
  const {
    case: { name },
    status,
    attempts,
  } = result;
  const count = countPasses(result);
  const head = `  ${words[status]}  ${toLine(name)}${count === null ? "" : ` (${count})`}`;
  const findings = findingsOf(result);
  const turns = attempts.find((one) => one.status !== "passed")?.turns ?? [];
  const shown = new Set(findings.map(({ turn }) => turn));
  return [
    head,
    ...[...shown].flatMap((turn) => [
      `    ${indent(`> ${turns[turn - 1]?.user ?? ""}`)}`,
      ...(turns[turn - 1]?.reply == null ? [] : [`    ${indent(shorten(turns[turn - 1]?.reply?.text ?? ""))}`]),
      ...findings
        .filter((one) => one.turn === turn)
        .map(
          ({ status, check, detail }) => `    ${words[status].trim()} ${check === null ? "" : `${check}: `}${detail}`,
        ),
    ]),
  ];
}

/** Further lines begin where the first one does. */
function indent(text: string): string {
  return toPlain(text).trim().replace(/\n/g, "\n    ");
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length <= maxReplyCharacters ? text : `${characters.slice(0, maxReplyCharacters).join("")}…`;
}

function summarize(report: EvalReport): string {
  const { costMicros, faults } = report;
  const { cases, passed, failed, errors, skipped } = countCases(report);
  if (faults.length > 0) return `${faults.length} ${faults.length === 1 ? "fault" : "faults"}; nothing was asked.`;
  const counts = [`${passed} passed`, `${failed} failed`, `${errors} with an error`, `${skipped} skipped`];
  const others = counts.slice(1).filter((count) => !count.startsWith("0 "));
  const cost = costMicros === null ? "The cost is not known." : `Cost: $${(costMicros / 1_000_000).toFixed(6)}.`;
  return `${cases} ${cases === 1 ? "case" : "cases"}: ${[counts[0], ...others].join(", ")}. ${cost}`;
}
