/**
 * The whole gate, in the order in which failures are cheapest: format and lint, types, dead code, the executable, all
 * tests. Every step runs, whatever failed before; the last line is `N passed, N failed`, which counts
 * tests, and a failed step as one more. What mostly waits runs beside what computes: two cores would be idle for a
 * third of the time otherwise.
 *
 * `begin-gate.ts` starts it.
 *
 *   bun scripts/ci.ts [--no-system-packages]     # without the tests that need Debian packages that are not there
 *   bun scripts/ci.ts --quick                    # a minute of it: `isQuick` of test-files.ts says which
 *   bun scripts/ci.ts --full                     # the gate, and what is dear and seldom broken: before a release
 *   bun scripts/ci.ts --stress                   # the tests while other work takes the machine: finds those that flake
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startTestServers } from "../test/support/test-servers.ts";
import { keepFilesInMemory } from "./files-in-memory.ts";
import { startLoad } from "./gate-load.ts";
import { counts, flaky, runOnceMore, runStep, runTests, shared, type TestRun } from "./gate-steps.ts";
import { showSummary } from "./gate-summary.ts";
import { adoptOrphans, endOrphans, readProcessorSeconds, waitForOrphans } from "./processor-time.ts";
import { installMissing } from "./system-packages.ts";
import {
  findTestFiles,
  isParallel,
  isQuick,
  missingPrograms,
  type SystemProgram,
  type TestFile,
  uninstalledPrograms,
} from "./test-files.ts";

const root = join(import.meta.dir, "..");
const bun = process.execPath;

const { values: options } = parseArgs({
  options: {
    "no-system-packages": { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    stress: { type: "boolean", default: false },
  },
});
/** One more than there are cores: some of them wait for a clock. */
const atOnce = "--parallel=3";
/** Browser tests in one process beside others: few, so that what is left then runs side by side. */
const filesBesideOthers = 5;

/** Files that may run a second time: under load, all that flake are to be named. */
const secondChances = options.stress ? 24 : 6;
/** Of processor time: what two cores do in seven minutes or so, and in one. */
const budgetSeconds = options.quick ? 60 : 12 * 60;

if (options.full) process.env["COMPANIOND_TEST_FULL"] = "1";
const ownFiles = keepFilesInMemory();
const testFiles = findTestFiles().filter((file) => options.full || !file.isFullOnly);
adoptOrphans();
if (options.quick) await runQuick();
else if (options.stress) await runStressed();
else await runGate();

await endOrphans();
showSummary({ counts, flaky, processor: readProcessor() });
ownFiles[Symbol.dispose]();
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);

function readProcessor() {
  const seconds = readProcessorSeconds();
  // The load would be counted too.
  return seconds === null || options.stress ? null : { seconds, budgetSeconds };
}

async function runQuick(): Promise<void> {
  if (!existsSync(join(root, "src/web/generated/packages.json"))) await makeWeb();
  await runQuickTests(testFiles.filter(isQuick));
  await runOnceMore(secondChances);
}

/** The tests as the gate runs them, side by side, with the machine taken; once more alone without the load. */
async function runStressed(): Promise<void> {
  const runnable = (await findRunnable()).filter((file) => !file.needsApiTools);
  await using _servers = await startServers();
  await makeWeb();
  const isBuilt = await buildExecutable();
  {
    await using _load = startLoad();
    await runAllTests(runnable, isBuilt, () => runQuickTests(runnable.filter(isParallel)));
  }
  await runOnceMore(secondChances);
}

async function runGate(): Promise<void> {
  const found = await findRunnable();
  await using servers = await startServers();
  await makeWeb();
  const runnable = await chooseApiTools(found);
  const [isBuilt] = await Promise.all([buildExecutable(), checkSources()]);
  await runAllTests(runnable, isBuilt, () => runParallel(runnable, servers !== undefined));
  await runOnceMore(secondChances);
}

/** `runQuickOnes`: those that compute. */
async function runAllTests(
  runnable: readonly TestFile[],
  isBuilt: boolean,
  runQuickOnes: () => Promise<void>,
): Promise<void> {
  // A tree that cannot be built has nothing for the tests of the executable to run.
  const slow = isBuilt ? runnable.filter((file) => !isParallel(file)) : [];
  const isWeb = (file: TestFile) => file.path.startsWith("test/web/");
  const ofExecutable = slow.filter((file) => !isWeb(file));
  const others = ofExecutable.filter((file) => !file.isMeasuring);
  const inBrowser = pathsOf(slow.filter((file) => isWeb(file) && !file.isAlone));
  const aloneInBrowser = pathsOf(slow.filter((file) => isWeb(file) && file.isAlone));
  let isRunningQuick = true;
  const runComputingOnes = async () => {
    await runQuickOnes();
    isRunningQuick = false;
  };
  // Mostly they wait, for a deadline of the server's or for a page, and so fill what the others leave of the cores.
  const runWaitingOnes = async () => {
    await runSharing(others, { title: "tests of the executable", flags: ["--parallel=2"], isBesideOthers: true });
    while (isRunningQuick && inBrowser.length > 0) {
      const files = inBrowser.splice(0, filesBesideOthers);
      await runTests({ title: `in the browser, beside others: ${files}`, files, ...shared, isBesideOthers: true });
    }
  };
  await Promise.all([runComputingOnes(), runWaitingOnes()]);
  waitForOrphans();
  const measuring = ofExecutable.filter((file) => file.isMeasuring);
  await runTests({ title: "tests of the executable that measure", files: pathsOf(measuring) });
  const title = "tests in the browser";
  await runTests({ ...shared, title, files: inBrowser, flags: [atOnce, ...shared.flags] });
  await runTests({ title: `${title}, apart from others`, files: aloneInBrowser });
}

function makeWeb(): Promise<boolean> {
  return runStep("browser bundles and wire types", [bun, "scripts/build.ts", "--web-only"]);
}

function buildExecutable(): Promise<boolean> {
  return runStep("executable", [bun, "scripts/build.ts", "--executable-only"]);
}

/** Leaves out linters and generators of clients where `checked-document.ts` has noted what they would be given. */
async function chooseApiTools(files: readonly TestFile[]): Promise<readonly TestFile[]> {
  const compare = [bun, "scripts/checked-document.ts", "--compare"];
  if (!options.full && (await Bun.spawn(compare, { cwd: root, stdio: ["ignore", 1, 2] }).exited) === 0) {
    console.log("The linters and generators have passed this API document: they do not run again.");
    return files.filter((file) => !file.needsApiTools);
  }
  console.log("They run on the API document; `bun run check-document` notes that they passed it.");
  await runStep("tools for the API document", [bun, "install", "--frozen-lockfile", "--cwd", "test/api-tools"]);
  return files;
}

async function checkSources(): Promise<void> {
  await runStep("format and lint", tool("biome", "ci", "--colors=off", "."));
  // Its threads check much twice, and take a third more of the processor's time in all.
  const types = tool("tsc", "--noEmit", "--singleThreaded", "-p");
  await runStep("types", [...types, "."]);
  await runStep("types of browser code", [...types, "src/web"]);
  await runStep("dead code", tool("knip"));
}

function runQuickTests(files: readonly TestFile[], title = "quick tests", environment = {}): Promise<void> {
  return runSharing(files, { title, flags: [atOnce], environment });
}

/** In processes that many files share, and those that must not in some of their own. */
async function runSharing(files: readonly TestFile[], tests: Omit<TestRun, "files">): Promise<void> {
  const { title, flags = [] } = tests;
  const environment = { ...shared.environment, ...tests.environment };
  const together = pathsOf(files.filter((file) => !file.isAlone));
  const alone = pathsOf(files.filter((file) => file.isAlone));
  await runTests({ ...tests, files: together, flags: [...flags, ...shared.flags], environment });
  await runTests({ ...tests, title: `${title}, apart from others`, files: alone });
}

/** The quick tests, and once more those that make whole requests. */
async function runParallel(runnable: readonly TestFile[], hasServers: boolean): Promise<void> {
  await runQuickTests(runnable.filter(isParallel));
  const again = runnable.filter((file) => file.isOnEachEngine);
  const title = "whole requests on PostgreSQL";
  if (hasServers) {
    await runQuickTests(again, title, { COMPANIOND_TEST_ENGINE: "postgres" });
  } else if (options["no-system-packages"] && missingServers().length > 0) {
    await skip(title, again, missingServers());
  } else {
    console.log("PostgreSQL or Redis did not start: no whole request was tested on them.");
    counts.failed++;
  }
}

/** One PostgreSQL and one Redis for all tests of this run; where they do not start, each test that needs them says why. */
async function startServers(): Promise<AsyncDisposable | undefined> {
  if (missingServers().length > 0) return undefined;
  try {
    return await startTestServers();
  } catch (error) {
    console.log(error);
    return undefined;
  }
}

function missingServers(): SystemProgram[] {
  return missingPrograms(testFiles).filter((program) => program.isServer);
}

/** All test files, or those that need nothing that is missing; what is left out is counted and named. */
async function findRunnable(): Promise<TestFile[]> {
  if (!options["no-system-packages"]) {
    await installMissing(uninstalledPrograms(testFiles));
    // The tests of a program that could not be installed fail, and say so.
    return testFiles;
  }
  const isLeftOut = (file: TestFile) => missingPrograms([file]).length > 0;
  for (const file of testFiles.filter(isLeftOut)) await skip(file.path, [file], missingPrograms([file]));
  return testFiles.filter((file) => !isLeftOut(file));
}

/** Counts and names what is left out. */
async function skip(title: string, files: readonly TestFile[], missing: readonly SystemProgram[]): Promise<void> {
  const count = await countTests(pathsOf(files));
  console.log(`skipped ${title}: ${count} tests, for want of ${missing.map((program) => program.package).join(", ")}`);
  counts.skipped += count;
}

/** Loads the files, and runs nothing of them. */
async function countTests(paths: readonly string[]): Promise<number> {
  const child = Bun.spawn([bun, "test", "-t", "^no test has this name$", ...paths.map((path) => `./${path}`)], {
    cwd: root,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const [, count = "1"] = /skipping (\d+) test/.exec(await child.stderr.text()) ?? [];
  return Number(count);
}

function pathsOf(files: readonly TestFile[]): string[] {
  return files.map((file) => file.path);
}

function tool(name: string, ...args: string[]): string[] {
  return [bun, "x", "--no-install", name, ...args];
}
