/** The demo's folder of evals on the executable: as its README, the guide and its workflow have it, and without a network. */
import { expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { demoText } from "../src/engines/demo/shop.ts";
import { executablePath } from "./support/executable.ts";
import { type MockLlm, startMockLlm } from "./support/mock-llm.ts";
import { type TemporaryDirectory, temporaryDirectory } from "./support/temporary.ts";

const root = join(import.meta.dir, "..");

/** A copy of the folder, with the executable on the path. */
function copyExample(): TemporaryDirectory {
  const directory = temporaryDirectory();
  cpSync(join(root, "examples/evals"), directory.file("repository"), { recursive: true });
  mkdirSync(directory.file("bin"));
  symlinkSync(executablePath, directory.file("bin/companiond"));
  return directory;
}

async function run(directory: TemporaryDirectory, command: string[], env: Record<string, string> = {}) {
  const child = Bun.spawn(command, {
    cwd: directory.file("repository"),
    env: { PATH: `${directory.file("bin")}:/usr/bin:/bin`, ...env },
    ...({ stdin: "ignore", stdout: "pipe", stderr: "pipe" } as const),
  });
  const [stdout, stderr, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, exitCode };
}

function edit(path: string, from: string, to: string): void {
  const text = readFileSync(path, "utf8");
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}

/** What a workflow runs, in order. */
function readSteps(path: string): string[] {
  const { jobs } = Bun.YAML.parse(readFileSync(path, "utf8")) as {
    jobs: Record<string, { steps: { run?: string }[] }>;
  };
  return Object.values(jobs).flatMap(({ steps }) => steps.flatMap((step) => step.run ?? []));
}

test("the workflow passes as it is, and is red for a reply, a prompt and a file that are not as they should be", async () => {
  using directory = copyExample();
  const steps = readSteps(directory.file("repository/workflow.yml"));
  expect(steps).toHaveLength(2);
  const replay = async () => {
    for (const step of steps.slice(0, -1))
      expect(await run(directory, ["bash", "-e", "-c", step])).toMatchObject({ exitCode: 0 });
    return await run(directory, ["bash", "-e", "-c", steps.at(-1) ?? ""]);
  };
  // Otherwise record them again: companiond eval evals -f companions --record recordings --demo
  expect(await replay()).toMatchObject({
    exitCode: 0,
    stderr: "",
    stdout: expect.stringContaining("5 cases: 5 passed."),
  });
  expect(readFileSync(directory.file("repository/evals.xml"), "utf8")).toContain('tests="5" failures="0" errors="0"');
  edit(directory.file("repository/evals/shop.yaml"), "one year", "two years");
  expect((await replay()).exitCode).toBe(1);
  expect(readFileSync(directory.file("repository/evals.xml"), "utf8")).toMatch(/<failure message="The reply does not/);
  edit(directory.file("repository/companions/ada.yaml"), "kindly", "strictly");
  expect((await replay()).exitCode).toBe(3);
  edit(directory.file("repository/companions/ada.yaml"), "name: Ada", "name: 1");
  expect((await replay()).exitCode).toBe(1);
  expect(readFileSync(join(root, "examples/evals/companions/shop.md"), "utf8")).toBe(demoText.markdown);
});

const isolated = ["unshare", "--user", "--map-root-user", "--net"];
const mayIsolate = Bun.which("unshare") !== null && Bun.spawnSync([...isolated, "true"]).exitCode === 0;

test.skipIf(!mayIsolate)("a replay needs no network, no setting and no data: not even loopback is up", async () => {
  using directory = copyExample();
  const before = readdirSync(directory.file("repository"), { recursive: true });
  const words = ["companiond", "eval", "evals", "-f", "companions", "--replay", "recordings"];
  const replayed = await run(directory, [...isolated, ...words]);
  expect(replayed).toMatchObject({ exitCode: 0, stderr: "" });
  expect(readdirSync(directory.file("repository"), { recursive: true })).toEqual(before);
});

test("the guide's first lines lead from nothing to a recorded test, and to a red one", async () => {
  using directory = copyExample();
  const mock: MockLlm = await startMockLlm();
  const guide = readFileSync(join(root, "docs/evals.md"), "utf8");
  const [first = "", second = ""] = [...guide.matchAll(/```sh\n(.*?)```/gs)].map(([, code = ""]) => code);
  mkdirSync(directory.file("repository/new"));
  const script = (code: string) => [
    "bash",
    "-e",
    "-c",
    `cd new; ${code.replace("Are you open", "Are you open [[say:We are open until six.]]")}`,
  ];
  const env = { OPENAI_API_KEY: "sk-x", OPENAI_BASE_URL: `${mock.url}/v1` };
  expect(await run(directory, script(first), env)).toMatchObject({ exitCode: 0, stderr: "" });
  await mock.close();
  expect(await run(directory, script(second))).toMatchObject({ exitCode: 0 });
  edit(directory.file("repository/new/evals/hours.yaml"), "contains: six", "contains: seven");
  expect(await run(directory, script(second))).toMatchObject({ exitCode: 1 });
});
