/** The example of companions as code, run as its README says, against two servers. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, cpSync } from "node:fs";
import { join } from "node:path";
import { startTestServer, type TestServer } from "../support/app.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

const root = join(import.meta.dir, "../..");
let directory: TemporaryDirectory;
let servers: Record<string, TestServer>;
let key: string;

beforeAll(async () => {
  directory = temporaryDirectory();
  cpSync(join(root, "examples/as-code"), directory.path, { recursive: true });
  servers = { staging: await startTestServer(), production: await startTestServer() };
  for (const [name, server] of Object.entries(servers)) {
    ({ key } = await server.createKey(await server.createAccount()));
    const keyFile = `environments/${name}.key`;
    await Bun.write(directory.file(keyFile), key);
    await Bun.write(directory.file(`environments/${name}.env`), `URL=${server.url}\nKEY_FILE=${keyFile}\n`);
  }
  await Bun.write(directory.file("bin/companiond"), `#!/bin/sh\nexec ${process.execPath} ${root}/src/main.ts "$@"\n`);
  chmodSync(directory.file("bin/companiond"), 0o755);
});
afterAll(async () => {
  for (const server of Object.values(servers)) await server.close();
  directory[Symbol.dispose]();
});

const deploy = (...words: string[]) => run(["sh", "deploy.sh", ...words]);

async function run(words: string[]) {
  const child = Bun.spawn(words, {
    cwd: directory.path,
    env: { PATH: `${directory.file("bin")}:${process.env.PATH ?? ""}` },
    ...({ stdout: "pipe", stderr: "pipe" } as const),
  });
  const [stdout, stderr, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, exitCode };
}

test("staging gets the files, a change by hand is found, and production gets the same", async () => {
  expect(await deploy("staging", "--dry-run")).toMatchObject({ exitCode: 5, stderr: "" });
  expect(await deploy("staging", "--note", "First version")).toMatchObject({ exitCode: 0, stderr: "" });
  expect((await deploy("staging")).stdout).toBe("Applied: 2 unchanged.\n");
  const { services, url } = servers["staging"] as TestServer;
  const [account] = await services.store.accounts.list();
  const support = await services.store.companions.findBySlug(account?.id ?? "", "support");
  const stagingKey = await Bun.file(directory.file("environments/staging.key")).text();
  await fetch(`${url}/api/companions/${support?.id}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${stagingKey}`, "content-type": "application/json" },
    body: JSON.stringify({ greeting: "Hello!" }),
  });
  const drift = await deploy("staging", "--dry-run");
  expect([drift.exitCode, drift.stdout]).toEqual([1, expect.stringContaining("greeting was changed by test at")]);
  expect((await deploy("staging", "--overwrite")).exitCode).toBe(0);
  expect((await deploy("production", "--note", "First version")).stdout).toContain("Applied: 2 create.");
});

test("its evals pass by their recordings, and a changed prompt has none", async () => {
  const replay = ["sh", "-c", "companiond eval evals -f companions --replay recordings"];
  expect(await run(replay)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("2 passed") });
  await Bun.write(directory.file("companions/support.md"), "You help otherwise.\n");
  expect((await run(replay)).exitCode).toBe(3);
});
