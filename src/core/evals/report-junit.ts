/** The report of evals as JUnit XML, as CI servers read it. */
import { escapeXml } from "../../lib/xml-text.ts";
import { countPasses, type Finding, findingsOf, toLine, toPlain } from "./findings.ts";
import { type CaseResult, durationOf, type EvalReport } from "./result.ts";

interface TestCase {
  readonly name: string;
  readonly durationMs: number;
  readonly outcome: "passed" | "failure" | "error" | "skipped";
  readonly message: string;
  /** Elements within it. */
  readonly content: string;
}

interface TestSuite {
  readonly name: string;
  readonly file: string;
  readonly cases: readonly TestCase[];
}

export function toJunitReport(report: EvalReport): string {
  const { suites, faults, problems, stopped } = report;
  const all: TestSuite[] = suites.map(({ suite: { name, file }, cases }) => ({
    ...{ name, file },
    cases: cases.map((one) => toTestCase(one, stopped?.detail ?? "")),
  }));
  for (const [file, own] of Map.groupBy(faults, (fault) => fault.file)) {
    const cases = own.map(({ line, sentence }) => erring(`line ${line}`, sentence));
    all.push({ name: file, file, cases });
  }
  if (problems.length > 0) {
    all.push({ name: "knowledge", file: "knowledge", cases: problems.map((one) => erring("knowledge", one)) });
  }
  const body = all.map(writeSuite).join("");
  const totals = writeTotals(all.flatMap(({ cases }) => cases));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="companiond eval"${totals}>\n${body}</testsuites>\n`;
}

function toTestCase(result: CaseResult, whyStopped: string): TestCase {
  const {
    case: { name },
    status,
  } = result;
  const count = countPasses(result);
  const findings = findingsOf(result);
  const outcome = status === "failed" ? "failure" : status;
  const message = status === "skipped" ? whyStopped : [count, findings[0]?.detail].filter(Boolean).join(" ");
  const output = count === null ? "" : `<system-out>${escapeXml(`${count} passed`)}</system-out>`;
  return {
    name,
    durationMs: durationOf(result),
    outcome,
    message,
    content: findings.map(describe).join("\n") || output,
  };
}

function describe({ turn, check, detail }: Finding): string {
  return escapeXml(toPlain(`turn ${turn}${check === null ? "" : `, ${check}`}: ${detail}`));
}

function erring(name: string, message: string): TestCase {
  return { name, durationMs: 0, outcome: "error", message, content: "" };
}

function writeSuite({ name, file, cases }: TestSuite): string {
  const body = cases.map((one) => writeCase(one, file)).join("");
  return `  <testsuite name="${attribute(name)}"${writeTotals(cases)}>\n${body}  </testsuite>\n`;
}

function writeCase({ name, durationMs, outcome, message, content }: TestCase, file: string): string {
  const head = `    <testcase name="${attribute(name)}" classname="${attribute(file)}" time="${seconds(durationMs)}"`;
  if (outcome === "passed") return content === "" ? `${head}/>\n` : `${head}>${content}</testcase>\n`;
  if (outcome === "skipped") return `${head}><skipped message="${attribute(message)}"/></testcase>\n`;
  return `${head}><${outcome} message="${attribute(message)}">${content}</${outcome}></testcase>\n`;
}

function writeTotals(cases: readonly TestCase[]): string {
  const count = (outcome: TestCase["outcome"]) => cases.filter((one) => one.outcome === outcome).length;
  const durationMs = cases.reduce((sum, one) => sum + one.durationMs, 0);
  const counts = `tests="${cases.length}" failures="${count("failure")}" errors="${count("error")}" skipped="${count("skipped")}"`;
  return ` ${counts} time="${seconds(durationMs)}"`;
}

function seconds(durationMs: number): string {
  return (durationMs / 1000).toFixed(3);
}

function attribute(text: string): string {
  return escapeXml(toLine(text));
}
