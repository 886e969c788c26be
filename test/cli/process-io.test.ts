/** What happens to a process after an unhandled error. */
import { expect, test } from "bun:test";
import { join } from "node:path";

async function run(mode: "serving" | "command") {
  const script = join(import.meta.dir, "../support/defect-process.ts");
  const child = Bun.spawn([process.execPath, script, mode], { stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, stdout, stderr };
}

test("a server records an unhandled error, and continues", async () => {
  const { exitCode, stdout, stderr } = await run("serving");
  expect(stdout.split("\n")).toEqual(["took a rejection", "took an exception", "still alive", ""]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
});

test("a command fails because of it, with a sentence on standard error", async () => {
  const { exitCode, stdout, stderr } = await run("command");
  expect(stderr).toStartWith("companiond: unexpected error: ");
  expect(stderr).toContain("a rejection");
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
});
