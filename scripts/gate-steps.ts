/** The steps of the gate: a command or a run of tests each, and what came of them. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noteFiles, noteOutcome } from "./gate-summary.ts";
import { type FileReport, readReport } from "./test-report.ts";

const root = join(import.meta.dir, "..");

export interface TestRun {
  title: string;
  /** Test files, relative to the project. */
  files: readonly string[];
  flags?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  /** True: other steps run beside this one. Its output is shown in one piece at its end. */
  isBesideOthers?: boolean;
}

/**
 * For many files in one process: modules are loaded, and a browser is started, once for all of them. Each again would be a
 * quarter of the tests' time. What measures memory runs apart, with the settings of the server.
 */
export const shared = {
  flags: ["--no-isolate"],
  environment: {
    COMPANIOND_TEST_SHARED: "1",
    // In milliseconds: what the allocator gives back sooner, as it does otherwise, is wanted again at once.
    MIMALLOC_PURGE_DELAY: "1000",
    // Each test runs once: what the last of the compilers makes of it is hardly used. The executable's tests have it.
    BUN_JSC_useFTLJIT: "0",
    // A process of a few tests ends before it uses what this thread prepares.
    BUN_JSC_useWarmUpMarkedBlocks: "0",
  },
};

/** All tests so far, and a failed step as one that failed. */
export const counts = { passed: 0, failed: 0, skipped: 0 };
/** Test files that failed, and passed when they ran once more. */
export const flaky: string[] = [];

/** Runs to the end beside others, shows all output then, and counts a failure as one. */
export async function runStep(title: string, command: readonly string[]): Promise<boolean> {
  const { isOk } = await run(title, command, {}, true);
  if (!isOk) counts.failed++;
  return isOk;
}

interface UnluckyFile {
  file: string;
  failures: number;
  environment: Readonly<Record<string, string>>;
}

/** Files with failed tests: what `runOnceMore` runs. */
const unlucky: UnluckyFile[] = [];

/** Runs the tests, and counts them. Without a file there is nothing to run: Bun would take all that there are. */
export async function runTests(tests: TestRun): Promise<void> {
  if (tests.files.length === 0) return;
  const { passed, failed, skipped, reports, isWhole } = await runTestFiles(tests);
  counts.passed += passed;
  counts.failed += failed;
  counts.skipped += skipped;
  noteFiles(reports);
  if (!isWhole) return;
  const { environment = {} } = tests;
  for (const { file, failures, hasDied } of reports) {
    if (failures > 0 && !hasDied) unlucky.push({ file, failures, environment });
  }
}

/**
 * Runs the files with failed tests once more, each alone, when nothing runs beside them: on a busy machine a deadline is
 * missed now and then. Those that pass now are named, so that they are looked into. More files than `maxFiles` are no
 * bad luck, and stay failed.
 */
export async function runOnceMore(maxFiles: number): Promise<void> {
  if (unlucky.length > maxFiles) {
    console.log(
      `\n${unlucky.length} files failed: more than ${maxFiles} are no bad luck, and none of them runs again.`,
    );
    return;
  }
  for (const { file, failures, environment } of unlucky.splice(0)) {
    const again = await runTestFiles({ title: `once more, alone: ${file}`, files: [file], environment });
    if (again.failed > 0) continue;
    counts.failed -= failures;
    counts.passed += failures;
    const engine = environment["COMPANIOND_TEST_ENGINE"];
    const where = engine === undefined ? "" : ` on ${engine}`;
    flaky.push(`${file}${where}: ${failures} failed, and passed alone`);
  }
}

interface TestOutcome {
  passed: number;
  failed: number;
  skipped: number;
  reports: FileReport[];
  /** False of a run that died: nobody knows of what. */
  isWhole: boolean;
}

async function runTestFiles(tests: TestRun): Promise<TestOutcome> {
  const { title, files, flags = [], environment = {}, isBesideOthers = false } = tests;
  const directory = mkdtempSync(join(tmpdir(), "companiond-ci-"));
  const report = join(directory, "report.xml");
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  // Bun's own limit of 5 s is one on the machine. What waits in vain says so before this one ends it, and what only takes
  // long beside other work has its time.
  const limit = ["--timeout", "180000"];
  const paths = files.map((file) => `./${file}`);
  const command = [process.execPath, "test", ...limit, ...flags, ...reporter, ...paths];
  const { isOk, output } = await run(title, command, environment, isBesideOthers);
  const reports = existsSync(report) ? readReport(readFileSync(report, "utf8"), output) : [];
  rmSync(directory, { recursive: true });
  const found = { pass: 0, fail: 0, error: 0, skip: 0 };
  for (const [, count, kind] of output.matchAll(/^ *(\d+) (pass|fail|error|skip)s?$/gm)) {
    found[kind as keyof typeof found] += Number(count);
  }
  const failed = found.fail + found.error;
  // A test that ends the process ends the run, and be it with 0.
  const [, ranFiles] = [...output.matchAll(/^Ran \d+ tests? across (\d+) files?\./gm)].at(-1) ?? [];
  const isWhole = Number(ranFiles) === files.length;
  if (isOk && !isWhole) console.log(`--- ${title} FAILED: it ended before all files had run ---`);
  return {
    passed: found.pass,
    // A run that died before its own summary, or failed for another reason than a test.
    failed: failed === 0 && !(isOk && isWhole) ? 1 : failed,
    // Named in the output above, as their files are where a program is missing.
    skipped: found.skip,
    reports,
    isWhole,
  };
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
  const processorSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
  noteOutcome({ title, seconds: (performance.now() - startedMs) / 1000, processorSeconds, isOk });
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
