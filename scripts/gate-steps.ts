/** The steps of the gate: a command or a run of tests each, and what came of them. */
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
/** More files than this are no bad luck. */
const secondChances = 4;

export interface TestRun {
  title: string;
  /** Test files, relative to the project. */
  files: readonly string[];
  flags?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  /** True: other steps run beside this one. Its output is shown in one piece at its end. */
  isBesideOthers?: boolean;
  /** Its files get a second chance (`runOnceMore`). */
  isInBrowser?: boolean;
}

interface Outcome {
  title: string;
  seconds: number;
  isOk: boolean;
}

const outcomes: Outcome[] = [];
/** All tests so far, and a failed step as one that failed. */
export const counts = { passed: 0, failed: 0, skipped: 0 };

export function showSummary(): void {
  console.log("\n--- summary ---");
  for (const { title, seconds, isOk } of outcomes) {
    console.log(`${isOk ? "ok    " : "FAILED"} ${title} (${seconds.toFixed(1)} s)`);
  }
  const { passed, failed, skipped } = counts;
  console.log("");
  console.log(`${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`);
}

/** Runs to the end beside others, shows all output then, and counts a failure as one. */
export async function runStep(title: string, command: readonly string[]): Promise<boolean> {
  const { isOk } = await run(title, command, {}, true);
  if (!isOk) counts.failed++;
  return isOk;
}

/** Files of the browser's that failed: what `runOnceMore` runs. */
const unlucky: { files: readonly string[]; failed: number }[] = [];

/** Runs the tests, and counts them. */
export async function runTests(tests: TestRun): Promise<void> {
  const { passed, failed, failedFiles } = await runTestFiles(tests);
  counts.passed += passed;
  counts.failed += failed;
  if (tests.isInBrowser && failedFiles.length > 0) unlucky.push({ files: failedFiles, failed });
}

/**
 * Runs once more, when nothing runs beside them, the few files of the browser's that failed: a browser on a busy machine
 * misses a deadline now and then. Whatever else fails is a defect. What failed once is named in the summary, so that it
 * is looked into.
 */
export async function runOnceMore(): Promise<void> {
  const files = unlucky.flatMap((run) => run.files);
  if (files.length === 0 || files.length > secondChances) return;
  const again = await runTestFiles({ title: `once more: ${files.join(", ")}`, files });
  const failed = unlucky.reduce((sum, run) => sum + run.failed, 0);
  counts.failed += again.failed - failed;
  if (again.failed === 0) counts.passed += failed;
}

interface TestOutcome {
  passed: number;
  failed: number;
  failedFiles: string[];
}

async function runTestFiles(tests: TestRun): Promise<TestOutcome> {
  const { title, files, flags = [], environment = {}, isBesideOthers = false } = tests;
  const report = join(mkdtempSync(join(tmpdir(), "companiond-ci-")), "report.xml");
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  // Bun's own limit of 5 s is one on the machine. What waits in vain says so before this one ends it.
  const limit = ["--timeout", "60000"];
  const paths = files.map((file) => `./${file}`);
  const command = [process.execPath, "test", ...limit, ...flags, ...reporter, ...paths];
  const { isOk, output } = await run(title, command, environment, isBesideOthers);
  const found = { pass: 0, fail: 0, error: 0, skip: 0 };
  for (const [, count, kind] of output.matchAll(/^ *(\d+) (pass|fail|error|skip)s?$/gm)) {
    found[kind as keyof typeof found] += Number(count);
  }
  // Named in the output above, as their files are where a program is missing.
  counts.skipped += found.skip;
  const failed = found.fail + found.error;
  // A test that ends the process ends the run, and be it with 0.
  const [, ranFiles] = [...output.matchAll(/^Ran \d+ tests? across (\d+) files?\./gm)].at(-1) ?? [];
  const isWhole = Number(ranFiles) === files.length;
  if (isOk && !isWhole) console.log(`--- ${title} FAILED: it ended before all files had run ---`);
  return {
    passed: found.pass,
    // A run that died before its own summary, or failed for another reason than a test.
    failed: failed === 0 && !(isOk && isWhole) ? 1 : failed,
    // An error between tests is in no file's count: such a run gets no second chance.
    failedFiles: found.error === 0 && existsSync(report) ? findFailedFiles(readFileSync(report, "utf8")) : [],
  };
}

function findFailedFiles(report: string): string[] {
  const suites = report.matchAll(/^ {2}<testsuite name="[^"]*" file="([^"]*)"[^>]* failures="(\d+)"/gm);
  return [...suites].filter(([, , failures]) => failures !== "0").map(([, file = ""]) => file);
}

async function run(
  title: string,
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
  isBesideOthers: boolean,
): Promise<{ isOk: boolean; output: string }> {
  const heading = `\n--- ${title} ---\n`;
  const held: Uint8Array[] = [];
  const show = (bytes: Uint8Array) => void (isBesideOthers ? held.push(bytes) : process.stdout.write(bytes));
  if (!isBesideOthers) process.stdout.write(heading);
  const startedMs = performance.now();
  const env = { ...process.env, ...environment };
  const child = Bun.spawn([...command], { cwd: root, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, error, exitCode] = await Promise.all([
    collect(child.stdout, show),
    collect(child.stderr, show),
    child.exited,
  ]);
  if (isBesideOthers) process.stdout.write(Buffer.concat([Buffer.from(heading), ...held]));
  const isOk = exitCode === 0;
  if (!isOk) console.log(`--- ${title} FAILED: ${command.join(" ").slice(0, 200)} ended with ${exitCode} ---`);
  outcomes.push({ title, seconds: (performance.now() - startedMs) / 1000, isOk });
  return { isOk, output: out + error };
}

/** Passes the output on while it comes, and returns it. */
async function collect(stream: ReadableStream<Uint8Array>, show: (bytes: Uint8Array) => void): Promise<string> {
  const decoder = new TextDecoder();
  let whole = "";
  for await (const bytes of stream) {
    show(bytes);
    whole += decoder.decode(bytes, { stream: true });
  }
  return whole;
}
