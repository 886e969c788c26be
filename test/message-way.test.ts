/** A message's way from socket to commit: the files that it passes through are those that docs/architecture.md tells to read. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isOnPostgres } from "./support/engine.ts";
import { temporaryDirectory } from "./support/temporary.ts";

const root = join(import.meta.dir, "..");

interface Executions {
  /** By file and line. */
  counts: Map<string, Map<number, number>>;
  /** How long the messages took. */
  tookMs: number;
}

/** Of a server that has answered so many messages, and was idle afterwards. */
async function countExecutions(messages: number, idleMs: number): Promise<Executions> {
  using directory = temporaryDirectory();
  const coverage = ["--coverage", "--coverage-reporter=lcov", `--coverage-dir=${directory.path}`];
  const run = Bun.spawn(
    [process.execPath, "test", "--timeout", "120000", ...coverage, "./test/support/messages-process.ts"],
    {
      cwd: root,
      env: { ...process.env, MESSAGES: String(messages), IDLE_MS: String(idleMs) },
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  const [output, errors] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
  if ((await run.exited) !== 0) throw new Error(errors);
  const counts: Executions["counts"] = new Map();
  let lines = new Map<number, number>();
  for (const record of readFileSync(directory.file("lcov.info"), "utf8").split("\n")) {
    if (record.startsWith("SF:")) {
      lines = new Map();
      counts.set(record.slice(3), lines);
    }
    const [, line, count] = /^DA:(\d+),(\d+)/.exec(record) ?? [];
    if (line !== undefined) lines.set(Number(line), Number(count));
  }
  return { counts, tookMs: Number(/took (\d+) ms/.exec(output)?.[1]) };
}

/** What timers do is none of it, however often they run while a busy machine answers: an idle server does that as well. */
async function findWay(): Promise<string[]> {
  const messages = 20;
  const { counts, tookMs } = await countExecutions(1 + messages, 0);
  const idle = await countExecutions(1, 2 * tookMs);
  const isOnWay = (file: string, lines: Map<number, number>) =>
    file.startsWith("src/") &&
    [...lines].some(([line, count]) => count >= messages + (idle.counts.get(file)?.get(line) ?? 0));
  return [...counts].filter(([file, lines]) => isOnWay(file, lines)).map(([file]) => file.slice("src/".length));
}

function readDocumentedWay(): string[] {
  const [, section = ""] = readFileSync(join(root, "docs/architecture.md"), "utf8").split(
    "## One message, from socket to commit",
  );
  const [list = ""] = section.split("\n## ");
  return [...list.matchAll(/^\d+\. `([\w/.-]+)`/gm)].map(([, file = ""]) => file);
}

const leaves = /^(lib|domain)\//;
const noting = /^(core\/metrics\/|http\/(access-log|route-table|heartbeats)\.ts$)/;
/** By contract: where its files are, and how many of them a message may pass through. */
const engines: readonly [files: RegExp, most: number][] = [
  // With windows that are counted elsewhere, also what asks them beside the lookup.
  [/^(contracts\/limiter\/|engines\/memory\/limiter\/|engines\/redis\/|http\/embed-windows)/, isOnPostgres ? 5 : 3],
  [/^engines\/(memory|postgres)\/coordination\//, isOnPostgres ? 5 : 3],
  [/^(contracts|core|engines)\/(llm|openai)\//, 12],
  [/^(contracts\/store|engines\/(sqlite|postgres|store-shared))\//, isOnPostgres ? 22 : 12],
];

test("a message passes through the twenty files that the architecture lists, and through the engines behind the contracts", async () => {
  const way = await findWay();
  const documented = readDocumentedWay();
  expect(documented.length).toBeLessThanOrEqual(20);
  const isEngine = (file: string) => engines.some(([files]) => files.test(file));
  const passed = way.filter((file) => !leaves.test(file) && !noting.test(file) && !isEngine(file));
  expect(passed.sort()).toEqual(documented.toSorted());
  for (const [files, most] of engines) {
    const passedFiles = way.filter((file) => files.test(file));
    expect(passedFiles).not.toEqual([]);
    // The rest is what there is too much of.
    expect(passedFiles.slice(most)).toEqual([]);
  }
});
