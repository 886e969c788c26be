/** What the gate makes of a run of tests: what fails, what dies, and what gets a second chance. */
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, relative } from "node:path";

const root = join(import.meta.dir, "../..");

const sources = {
  fine: "test('fine', () => expect(1).toBe(1));",
  good: "test('good', () => expect(1).toBe(1));",
  bad: "test('bad', () => expect(1).toBe(2));",
  killed: "test('killed', () => process.kill(process.pid, 'SIGKILL'));",
  ends: "test('ends', () => process.exit(0)); test('bad', () => expect(1).toBe(2));",
  unloadable: "throw new Error('not loaded');",
  once: "test('once', async () => { const f = Bun.file(import.meta.dir + '/ran'); if (await f.exists()) return expect(1).toBe(1); await Bun.write(f, ''); expect(1).toBe(2); });",
};

interface Judged {
  passed: number;
  failed: number;
}

/** In a process of its own, since its output would be taken for this run's. */
async function judge(names: (keyof typeof sources)[], tests: object = {}): Promise<Judged> {
  // Inside the project, as test files are: reports name others differently.
  mkdirSync(join(root, "dist"), { recursive: true });
  const directory = mkdtempSync(join(root, "dist/gate-"));
  await using after = new AsyncDisposableStack();
  after.defer(() => rmSync(directory, { recursive: true }));
  const files: string[] = [];
  for (const name of names) {
    const file = join(directory, `${name}.test.ts`);
    await Bun.write(file, `import { expect, test } from "bun:test"; ${sources[name]}`);
    files.push(relative(root, file));
  }
  const run = { title: "probe", files, ...tests };
  const script = `
    import { counts, runOnceMore, runTests } from "./scripts/gate-steps.ts";
    await runTests(${JSON.stringify(run)});
    await runOnceMore();
    console.error("\\n" + JSON.stringify(counts));`;
  const child = Bun.spawn([process.execPath, "-e", script], { cwd: root, stdout: "ignore", stderr: "pipe" });
  const text = await child.stderr.text();
  return JSON.parse(text.trimEnd().split("\n").at(-1) ?? "");
}

test.each([
  ["good", [], true],
  ["bad", [], false],
  ["killed", [], false],
  ["killed", ["--parallel=2"], false],
  ["ends", [], false],
  ["unloadable", [], false],
] as const)("a run with one that is %s, and %j, is green: %j", async (name, flags, isGreen) => {
  const { failed } = await judge(["fine", name], { flags });
  expect(failed === 0).toBe(isGreen);
});

test("only what fails in the browser gets a second chance", async () => {
  expect(await judge(["fine", "once"])).toMatchObject({ passed: 1, failed: 1 });
  expect(await judge(["fine", "once"], { isInBrowser: true })).toMatchObject({ passed: 2, failed: 0 });
});
