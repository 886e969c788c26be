/** What the gate makes of a run of tests: what fails, what dies, and what gets a second chance. */
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const root = join(import.meta.dir, "../..");

const sources = {
  fine: "test('fine', () => expect(1).toBe(1));",
  good: "test('good', () => expect(1).toBe(1));",
  silent: "test('silent', () => {});",
  bad: "test('bad', () => expect(1).toBe(2));",
  killed: "test('killed', () => process.kill(process.pid, 'SIGKILL'));",
  ends: "test('ends', () => process.exit(0)); test('bad', () => expect(1).toBe(2));",
  unloadable: "throw new Error('not loaded');",
  stray:
    "test('stray', async () => { const f = Bun.file(import.meta.dir + '/strayed'); if (await f.exists()) return expect(1).toBe(1); await Bun.write(f, ''); setTimeout(() => { throw new Error('late'); }); expect(1).toBe(1); }); afterAll(() => new Promise((done) => setTimeout(done, 50)));",
  once: "test('once', async () => { const f = Bun.file(import.meta.dir + '/ran'); if (await f.exists()) return expect(1).toBe(1); await Bun.write(f, ''); expect(1).toBe(2); });",
};

interface Judged {
  passed: number;
  failed: number;
  flaky: string[];
}

/** In a process of its own, since its output would be taken for this run's. */
async function judge(names: (keyof typeof sources)[], tests: object = {}, maxFiles = 2): Promise<Judged> {
  // Inside the project, as test files are: reports name others differently.
  mkdirSync(join(root, "dist"), { recursive: true });
  const directory = mkdtempSync(join(root, "dist/gate-"));
  await using after = new AsyncDisposableStack();
  after.defer(() => rmSync(directory, { recursive: true }));
  const files: string[] = [];
  for (const name of names) {
    const file = join(directory, `${name}.test.ts`);
    await Bun.write(file, `import { afterAll, expect, test } from "bun:test"; ${sources[name]}`);
    files.push(relative(root, file));
  }
  const run = { title: "probe", files, ...tests };
  const script = `
    import { counts, flaky, runOnceMore, runTests } from "./scripts/gate-steps.ts";
    await runTests(${JSON.stringify(run)});
    await runOnceMore(${maxFiles});
    console.error("\\n" + JSON.stringify({ ...counts, flaky }));`;
  const child = Bun.spawn([process.execPath, "-e", script], { cwd: root, stdout: "ignore", stderr: "pipe" });
  const text = await child.stderr.text();
  return JSON.parse(text.trimEnd().split("\n").at(-1) ?? "");
}

test.each([
  ["good", [], true],
  ["bad", [], false],
  ["killed", [], false],
  ["killed", ["--parallel=2"], false],
  ["killed", ["--parallel=2", "--no-isolate"], false],
  ["ends", ["--parallel=2", "--no-isolate"], false],
  ["silent", ["--parallel=2", "--no-isolate"], false],
  ["ends", [], false],
  ["unloadable", [], false],
] as const)("a run with one that is %s, and %j, is green: %j", async (name, flags, isGreen) => {
  const { failed } = await judge(["fine", name], { flags });
  expect(failed === 0).toBe(isGreen);
});

test("what fails, and passes alone, is green and named; what fails again stays red", async () => {
  const { passed, failed, flaky } = await judge(["fine", "once", "bad"]);
  expect({ passed, failed }).toEqual({ passed: 2, failed: 1 });
  expect(flaky).toEqual([expect.stringMatching(/once\.test\.ts: 1 failed/)]);
});

test("nothing runs once more where more fail than bad luck explains", async () => {
  expect(await judge(["fine", "once", "bad"], {}, 1)).toMatchObject({ failed: 2, flaky: [] });
});

test.each([[[]], [["--parallel=2"]], [["--parallel=2", "--no-isolate"]]])(
  "an error between tests, and %j, is its file's",
  async (flags) => {
    const { failed, flaky } = await judge(["fine", "stray", "unloadable", "once"], { flags });
    const [once, stray] = flaky.toSorted();
    // Where files share a process, Bun may count an error for the file beside the one that it came from.
    expect({ isRed: failed > 0, once, stray }).toEqual({
      isRed: true,
      once: expect.stringMatching(/once\.test\.ts: \d failed/),
      stray: expect.stringMatching(/stray\.test\.ts: \d failed/),
    });
  },
);

test("the load of a stressed run ends with the gate, even when that is killed", async () => {
  const script = `
    import { startLoad } from "./scripts/gate-load.ts";
    startLoad();
    setInterval(() => {}, 1000);`;
  using temporary = temporaryDirectory();
  const child = Bun.spawn([process.execPath, "-e", script], {
    cwd: root,
    env: { ...process.env, TMPDIR: temporary.path },
  });
  await eventually(() => findProcessesOf(temporary.path).length > 5);
  child.kill("SIGKILL");
  await child.exited;
  await eventually(() => findProcessesOf(temporary.path).length === 0);
  expect(readdirSync(temporary.path)).toEqual([]);
});

/** Those whose environment names the directory. */
function findProcessesOf(directory: string): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, "latin1").includes(directory);
    } catch {
      return false;
    }
  });
}
