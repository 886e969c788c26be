/**
 * Builds for other systems, their names and their checksums; the build for this system is the one that
 * `support/executable` runs.
 */
import { expect, test } from "bun:test";
import { generateKeyPairSync, verify } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { codeBlocks } from "../support/code-blocks.ts";
import { testInFull } from "../support/full.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const script = join(import.meta.dir, "../../scripts/build.ts");

/** A build takes two cores for some seconds; where others need them too, for a minute. */
const buildLimitMs = 300_000;

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

testInFull(
  "builds for a system by its name, with a checksum, what runs there and reports its build",
  async () => {
    using dir = temporaryDirectory();
    const target = `${process.platform}-${process.arch}`;
    const name = `companiond-${target}`;
    const { exitCode, output } = await build("--target", target, "--outfile", dir.file(name));
    expect({ exitCode, output: exitCode === 0 ? "" : output }).toEqual({ exitCode: 0, output: "" });
    expect(readdirSync(dir.path).sort()).toEqual(["SHA256SUMS", name]);
    const sum = new Bun.SHA256().update(readFileSync(dir.file(name))).digest("hex");
    expect(readFileSync(dir.file("SHA256SUMS"), "utf8")).toBe(`${sum}  ${name}\n`);
    const version = Bun.spawnSync([dir.file(name), "version", "--json"], { env: {} });
    expect(JSON.parse(version.stdout.toString())).toMatchObject({
      commit: expect.stringMatching(/^[0-9a-f]{12}\+?$/),
      build: { target, built_at: expect.any(String) },
    });
  },
  buildLimitMs,
);

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

const release = join(import.meta.dir, "../../scripts/release.ts");
const quickly = ["--executable-only", "--target", "linux-x64", "--compression-level", "1"];
const unsigned = [
  "THIRD-PARTY-NOTICES.txt",
  "_companiond",
  `companiond-${version}-image.tar.gz`,
  `companiond-client-${version}.tgz`,
  "companiond-linux-x64",
  "companiond.1",
  "companiond.bash",
  "companiond.fish",
  `companiond_${version}_amd64.deb`,
  "install.sh",
  "sbom.cdx.json",
];

function verifies(dir: string, name: string): string {
  const sums = Bun.spawnSync(["sha256sum", "--check", "--quiet", "SHA256SUMS"], { cwd: dir });
  expect(sums.exitCode).toBe(0);
  expect(readFileSync(join(dir, "SHA256SUMS"), "utf8")).toContain(`  ${name}\n`);
  return readdirSync(dir).sort().join(" ");
}

// The signed one is made of the same parts.
testInFull(
  "a release without a key is the files and their checksums, and says that nothing is signed",
  async () => {
    using dir = temporaryDirectory();
    const outdir = dir.file("release");
    const { exitCode, output } = await run([release, ...quickly, "--outdir", outdir]);
    expect({ exitCode, output: exitCode === 0 ? "" : output }).toEqual({ exitCode: 0, output: "" });
    expect(output).toContain("Nothing is signed");
    for (const name of unsigned) expect(verifies(outdir, name)).toBe(["SHA256SUMS", ...unsigned].join(" "));
  },
  buildLimitMs,
);

test(
  "a signed release describes its executables for updates, and everything bears the same signature",
  async () => {
    using dir = temporaryDirectory();
    const outdir = dir.file("release");
    const key = generateKeyPairSync("ed25519");
    writeFileSync(dir.file("key.pem"), key.privateKey.export({ format: "pem", type: "pkcs8" }));
    const keys = { COMPANIOND_RELEASES_SIGNING_KEY_FILE: dir.file("key.pem"), SOURCE_DATE_EPOCH: "1790000000" };
    const where = ["--outdir", outdir, "--releases-url", "https://releases.example.com"];
    const { exitCode, output } = await run([release, ...quickly, ...where], keys);
    expect({ exitCode, output: exitCode === 0 ? "" : output }).toEqual({ exitCode: 0, output: "" });
    const added = [`${version}.json`, "SHA256SUMS", "SHA256SUMS.sig", "latest.json", "release-key.pem"];
    expect(verifies(outdir, "latest.json")).toBe([...unsigned, ...added].sort().join(" "));

    const latest = JSON.parse(readFileSync(join(outdir, "latest.json"), "utf8"));
    expect(JSON.parse(readFileSync(join(outdir, `${version}.json`), "utf8"))).toEqual(latest);
    const executable = readFileSync(join(outdir, "companiond-linux-x64"));
    const sha256 = new Bun.SHA256().update(executable).digest("hex");
    const url = `https://releases.example.com/${version}/companiond-linux-x64`;
    expect(latest).toEqual({ version, targets: { "linux-x64": { url, sha256, signature: expect.any(String) } } });
    const signed = Buffer.from(`companiond\n${version}\nlinux-x64\n${sha256}\n`);
    expect(verify(null, signed, key.publicKey, Buffer.from(latest.targets["linux-x64"].signature, "base64"))).toBe(
      true,
    );
    const { x = "" } = key.publicKey.export({ format: "jwk" });
    // What the executable trusts is in its bundle as it stands.
    expect(executable.includes(Buffer.from(x, "base64url").toString("base64"))).toBe(true);
    expect(executable.includes("https://releases.example.com")).toBe(true);
    const told = Bun.spawnSync([join(outdir, "companiond-linux-x64"), "version", "--json"], { env: {} });
    expect(JSON.parse(told.stdout.toString()).build.built_at).toBe("2026-09-21T14:13:20.000Z");

    const lines = codeBlocks(readFileSync(join(import.meta.dir, "../../docs/releases.md"), "utf8"), "sh").join("\n");
    expect(Bun.which("openssl")).toBe("/usr/bin/openssl");
    const checked = Bun.spawnSync(["/bin/bash", "-euo", "pipefail", "-c", lines], { cwd: outdir });
    expect(checked.stdout.toString()).toStartWith("Signature Verified Successfully\n");
    expect(checked.exitCode).toBe(0);
    writeFileSync(join(outdir, "SHA256SUMS"), "other\n");
    expect(Bun.spawnSync(["/bin/bash", "-euo", "pipefail", "-c", lines], { cwd: outdir }).exitCode).not.toBe(0);
  },
  buildLimitMs,
);
