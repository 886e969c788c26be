/**
 * Builds for other systems, their names and their checksums; the build for this system is the one that
 * `support/executable` runs.
 */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../support/temporary.ts";

const script = join(import.meta.dir, "../../scripts/build.ts");

async function build(...args: string[]): Promise<{ exitCode: number; output: string }> {
  const child = Bun.spawn([process.execPath, script, "--executable-only", ...args], { stdout: "pipe", stderr: "pipe" });
  const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, output: out + error };
}

test("builds for a system by its name, with a checksum", async () => {
  using dir = temporaryDirectory();
  const { exitCode, output } = await build("--target", "linux-x64", "--outfile", dir.file("companiond-linux-x64"));
  expect({ exitCode, output: exitCode === 0 ? "" : output }).toEqual({ exitCode: 0, output: "" });
  expect(readdirSync(dir.path).sort()).toEqual(["SHA256SUMS", "companiond-linux-x64"]);
  const sum = new Bun.SHA256().update(readFileSync(dir.file("companiond-linux-x64"))).digest("hex");
  expect(readFileSync(dir.file("SHA256SUMS"), "utf8")).toBe(`${sum}  companiond-linux-x64\n`);
}, 60_000);

test.skipIf(process.arch !== "x64" || process.platform !== "linux")(
  "what was built for this system runs, and tells its build",
  async () => {
    using dir = temporaryDirectory();
    const file = dir.file("companiond-linux-x64");
    const { exitCode } = await build("--target", "linux-x64", "--outfile", file);
    expect(exitCode).toBe(0);
    const told = Bun.spawnSync([file, "version", "--json"], { env: {} });
    expect(JSON.parse(told.stdout.toString())).toMatchObject({
      commit: expect.stringMatching(/^[0-9a-f]{12}\+?$/),
      build: { target: "linux-x64", built_at: expect.any(String) },
    });
  },
  60_000,
);

test.each([
  [["--target", "amiga"], "there is no target amiga: it is one of linux-x64,"],
  [["--target", "linux-x64", "--target", "linux-arm64", "--outfile", "x"], "--outfile names one file"],
])("refuses %j", async (args, sentence) => {
  const { exitCode, output } = await build(...args);
  expect(exitCode).toBe(2);
  expect(output).toContain(sentence);
});
