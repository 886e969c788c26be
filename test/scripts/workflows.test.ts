/** The workflows for a forge: they run what developers run, with pinned actions and few rights. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };

const root = join(import.meta.dir, "../..");
const folder = join(root, ".github/workflows");

interface Job {
  uses?: string;
  with?: Record<string, unknown>;
  permissions?: Record<string, string>;
  "timeout-minutes"?: number;
  steps?: { uses?: string; run?: string }[];
}

interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
}

const workflows = new Map(
  readdirSync(folder).map((file) => [file, Bun.YAML.parse(readFileSync(join(folder, file), "utf8")) as Workflow]),
);

function stepsOf(workflow: Workflow | undefined) {
  return Object.values(workflow?.jobs ?? {}).flatMap(({ steps = [] }) => steps);
}

test.each([...workflows])("%s pins every action, and reads alone unless a job says more", (_, workflow) => {
  expect(workflow.permissions).toEqual({ contents: "read" });
  for (const { uses } of stepsOf(workflow)) expect(uses ?? "none").toMatch(/^(?:none|[\w-]+\/[\w-]+@[0-9a-f]{40})$/);
  for (const job of Object.values(workflow.jobs)) {
    expect(job.uses ?? "none").toMatch(/^(?:none|\.\/.*)$/);
    if (job.steps !== undefined) expect(job["timeout-minutes"]).toBeGreaterThan(0);
  }
});

test("the gate runs what .ci/run does, and only publishing may write", () => {
  const runs = (file: string) => stepsOf(workflows.get(file)).map(({ run }) => run);
  expect(runs("gate.yml")).toContain("sh .ci/run");
  const release = runs("release.yml").filter((line) =>
    line?.startsWith(`npx -y ${manifest.packageManager} run release `),
  );
  expect(release).toEqual([expect.stringContaining('--base-url "$GITHUB_SERVER_URL/')]);
  const { gate, build, publish } = workflows.get("release.yml")?.jobs ?? {};
  expect([gate?.uses, build?.permissions]).toEqual(["./.github/workflows/gate.yml", undefined]);
  expect(gate?.with).toEqual({ full: true });
  expect(runs("gate.yml")).toContain(`npx -y ${manifest.packageManager} run full`);
  expect(publish?.permissions).toEqual({ contents: "write" });
});

test("one version of Bun is named everywhere", () => {
  const named = [
    ".ci/run",
    "README.md",
    "CONTRIBUTING.md",
    "deploy/Dockerfile",
    ".github/workflows/gate.yml",
    ".github/workflows/release.yml",
  ].flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/\bbun[@:](\d+\.\d+\.\d+)/g)].map(([, found]) => found),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(new Set(named)).toEqual(new Set([manifest.packageManager.slice("bun@".length)]));
});
