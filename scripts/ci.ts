/**
 * The whole gate, in the order in which failures are cheapest: format and lint, types, dead code, the executable, all
 * tests. Every step runs, whatever failed before; the last line is `N passed, N failed`, which counts
 * tests, and a failed step as one more.
 */
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Glob } from "bun";

const root = join(import.meta.dir, "..");
const bun = process.execPath;

interface Outcome {
  title: string;
  seconds: number;
  isOk: boolean;
}

const outcomes: Outcome[] = [];
/** More files than this are no bad luck. */
const secondChances = 4;
let passed = 0;
let failed = 0;

const testFiles = [...new Glob("test/**/*.test.{ts,tsx}").scanSync({ cwd: root })].sort();

/** What tests run beside Bun: the package of each program, and the program by whose path a test names it. */
const debianPackages = {
  nginx: "/usr/sbin/nginx",
  caddy: "/usr/bin/caddy",
  prometheus: "/usr/bin/promtool",
  systemd: "/usr/bin/systemd-analyze",
  faketime: "/usr/bin/faketime",
  musl: "/lib/ld-musl-x86_64.so.1",
  binutils: "/usr/bin/ld",
  "libstdc++-12-pic": "/usr/lib/gcc/x86_64-linux-gnu/12/libstdc++_pic.a",
};

await installDebianPackage("chromium", "/usr/bin/chromium");
for (const [name, file] of Object.entries(debianPackages)) {
  if (testFiles.some((test) => readFileSync(join(root, test), "utf8").includes(file))) {
    await installDebianPackage(name, file);
  }
}
await step("browser bundles", [bun, "scripts/build.ts", "--web-only"]);
await step("format and lint", tool("biome", "ci", "--colors=off", "."));
await step("types", tool("tsc", "--noEmit", "-p", "."));
if (existsSync(join(root, "src/web/tsconfig.json"))) {
  await step("types of browser code", tool("tsc", "--noEmit", "-p", "src/web"));
}
await step("dead code", tool("knip"));
// Before the tests, half of which run it; a tree that cannot be built has nothing to test.
if (await step("executable", [bun, "scripts/build.ts", "--executable-only"])) await runTests(testFiles);

console.log("\n--- summary ---");
for (const { title, seconds, isOk } of outcomes) {
  console.log(`${isOk ? "ok    " : "FAILED"} ${title} (${seconds.toFixed(1)} s)`);
}
console.log("");
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

/** Runs to the end, shows all output, and counts a failure as one. */
async function step(title: string, command: string[]): Promise<boolean> {
  const { isOk } = await runStep(title, command);
  if (!isOk) failed++;
  return isOk;
}

/**
 * Runs the tests, and once more, alone, the few files that failed: a browser on a busy machine misses a deadline now and
 * then. A defect fails twice; what failed once is named in the summary, so that it is looked into.
 */
async function runTests(files: string[]): Promise<void> {
  const first = await runTestFiles("tests", files);
  passed += first.passed;
  if (first.failed === 0) return;
  if (first.failedFiles.length === 0 || first.failedFiles.length > secondChances) {
    failed += first.failed;
    return;
  }
  const again = await runTestFiles(`once more: ${first.failedFiles.join(", ")}`, first.failedFiles);
  failed += again.failed;
  if (again.failed === 0) passed += first.failed;
}

interface TestOutcome {
  passed: number;
  failed: number;
  failedFiles: string[];
}

async function runTestFiles(title: string, files: string[]): Promise<TestOutcome> {
  const report = join(mkdtempSync(join(tmpdir(), "companiond-ci-")), "report.xml");
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  // Bun's own limit of 5 s is one on the machine: what hangs is ended all the same.
  const limit = ["--timeout", "30000"];
  const { isOk, output } = await runStep(title, [
    bun,
    "test",
    ...limit,
    ...reporter,
    ...files.map((file) => `./${file}`),
  ]);
  const counts = { pass: 0, fail: 0, error: 0 };
  for (const [, count, kind] of output.matchAll(/^ *(\d+) (pass|fail|error)s?$/gm)) {
    counts[kind as keyof typeof counts] += Number(count);
  }
  const failed = counts.fail + counts.error;
  return {
    passed: counts.pass,
    // A run that died before its own summary, or failed for another reason than a test.
    failed: !isOk && failed === 0 ? 1 : failed,
    // An error between tests is in no file's count: such a run gets no second chance.
    failedFiles: counts.error === 0 && existsSync(report) ? findFailedFiles(readFileSync(report, "utf8")) : [],
  };
}

function findFailedFiles(report: string): string[] {
  const suites = report.matchAll(/^ {2}<testsuite name="[^"]*" file="([^"]*)"[^>]* failures="(\d+)"/gm);
  return [...suites].filter(([, , failures]) => failures !== "0").map(([, file = ""]) => file);
}

async function runStep(title: string, command: string[]): Promise<{ isOk: boolean; output: string }> {
  console.log(`\n--- ${title} ---`);
  const startedMs = performance.now();
  const child = Bun.spawn(command, { cwd: root, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, error, exitCode] = await Promise.all([show(child.stdout), show(child.stderr), child.exited]);
  const isOk = exitCode === 0;
  if (!isOk) console.log(`--- ${title} FAILED: ${command.join(" ").slice(0, 200)} ended with ${exitCode} ---`);
  outcomes.push({ title, seconds: (performance.now() - startedMs) / 1000, isOk });
  return { isOk, output: out + error };
}

/** Shows the output while it comes, and returns it. */
async function show(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let whole = "";
  for await (const bytes of stream) {
    process.stdout.write(bytes);
    whole += decoder.decode(bytes, { stream: true });
  }
  return whole;
}

function tool(name: string, ...args: string[]): string[] {
  return [bun, "x", "--no-install", name, ...args];
}

/** What tests need from the system: put there only if missing, and only where that is possible. */
async function installDebianPackage(name: string, file: string): Promise<void> {
  if (existsSync(file)) return;
  if (process.getuid?.() !== 0 || Bun.which("apt-get") === null) {
    console.log(`Tests need ${file}: install the package "${name}" (apt-get install ${name}).`);
    failed++;
    return;
  }
  const install = ["apt-get", "install", "-y", "--no-install-recommends", name];
  const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const command of [["apt-get", "update"], install]) {
    const child = Bun.spawn(command, { env: environment, stdin: "ignore", stdout: "ignore", stderr: "inherit" });
    if ((await child.exited) !== 0) console.log(`${command.join(" ")} failed.`);
  }
  if (!existsSync(file)) failed++;
}
