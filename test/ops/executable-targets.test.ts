/**
 * Builds for other systems, their names and their checksums; the build for this system is the one that
 * `support/executable` runs.
 */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../support/temporary.ts";

const script = join(import.meta.dir, "../../scripts/build.ts");

interface Outcome {
  exitCode: number;
  output: string;
}

function build(...args: string[]): Promise<Outcome> {
  return run([script, "--executable-only", ...args]);
}

async function run(command: string[], environment: Record<string, string> = {}): Promise<Outcome> {
  const child = Bun.spawn([process.execPath, ...command], {
    env: { ...process.env, ...environment },
    stdout: "pipe",
    stderr: "pipe",
  });
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

test("what was built for this system runs, and reports its build", async () => {
  using dir = temporaryDirectory();
  const target = `${process.platform}-${process.arch}`;
  const file = dir.file(`companiond-${target}`);
  const { exitCode } = await build("--target", target, "--outfile", file);
  expect(exitCode).toBe(0);
  const version = Bun.spawnSync([file, "version", "--json"], { env: {} });
  expect(JSON.parse(version.stdout.toString())).toMatchObject({
    commit: expect.stringMatching(/^[0-9a-f]{12}\+?$/),
    build: { target, built_at: expect.any(String) },
  });
}, 60_000);

test.each([
  [["--target", "amiga"], "there is no target amiga: it is one of linux-x64,"],
  [["--target", "linux-x64", "--target", "linux-arm64", "--outfile", "x"], "--outfile names one file"],
])("refuses %j", async (args, sentence) => {
  const { exitCode, output } = await build(...args);
  expect(exitCode).toBe(2);
  expect(output).toContain(sentence);
});

test("says which target's runtime could not be downloaded", async () => {
  using dir = temporaryDirectory();
  // Port 1 is nobody's: there is no way out, and nothing kept from before.
  const offline = {
    HTTPS_PROXY: "http://127.0.0.1:1",
    https_proxy: "http://127.0.0.1:1",
    BUN_INSTALL_CACHE_DIR: dir.path,
  };
  const args = [script, "--executable-only", "--target", "linux-arm64", "--outdir", dir.file("out")];
  const { exitCode, output } = await run(args, offline);
  expect(exitCode).toBe(2);
  expect(output).toContain("the runtime for linux-arm64 could not be downloaded from the npm registry.");
  expect(readdirSync(dir.file("out"))).toEqual([]);
});

test("a release is the executables, the bill of materials, the notices, and checksums of all", async () => {
  using dir = temporaryDirectory();
  const outdir = dir.file("release");
  const release = join(import.meta.dir, "../../scripts/release.ts");
  const { exitCode, output } = await run([release, "--executable-only", "--target", "linux-x64", "--outdir", outdir]);
  expect({ exitCode, output: exitCode === 0 ? "" : output }).toEqual({ exitCode: 0, output: "" });
  const files = ["THIRD-PARTY-NOTICES.txt", "companiond-linux-x64", "sbom.cdx.json"];
  expect(readdirSync(outdir).sort()).toEqual(["SHA256SUMS", ...files]);
  const checked = Bun.spawnSync(["sha256sum", "--check", "SHA256SUMS"], { cwd: outdir });
  expect(checked.stdout.toString()).toBe(files.map((file) => `${file}: OK\n`).join(""));
}, 60_000);
