/** `companiond update` on the compiled executable, with releases from a server on loopback. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { version as current } from "../package.json";
import { executablePath } from "./support/executable.ts";
import { makeProgram, type Offer, startReleases } from "./support/releases.ts";
import { temporaryDirectory } from "./support/temporary.ts";

const directory = temporaryDirectory();
const executable = join(directory.path, "bin", "companiond");
const target = `${process.platform}-${process.arch}`;
const theirs = generateKeyPairSync("ed25519");
const releases = startReleases();
const { pages, publish } = releases;
let before: Uint8Array;

beforeAll(() => {
  mkdirSync(join(directory.path, "bin"));
  copyFileSync(executablePath, executable);
  before = readFileSync(executable);
});
afterAll(async () => {
  await releases.stop();
  directory[Symbol.dispose]();
});

function run(words: readonly string[], environment: Record<string, string> = {}) {
  return releases.run(words, { environment, program: [executable] });
}

/** Nothing but the executable, as it was. */
function expectUnchanged(): void {
  expect(readdirSync(join(directory.path, "bin"))).toEqual(["companiond"]);
  expect(Buffer.compare(readFileSync(executable), before)).toBe(0);
}

test("says whether there is a newer release, and changes nothing", async () => {
  publish();
  const newer = await run(["--check", "--json"]);
  expect(JSON.parse(newer.stdout)).toMatchObject({ current, latest: "99.1.0", is_newer: true, updated: false });
  publish({ version: current });
  // Settings that another version knows are no reason to stay at this one.
  const same = await run(["--check"], { COMPANIOND_OF_ANOTHER_VERSION: "1", COMPANIOND_LOG: "louder" });
  expect(same).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("is up to date") });
  publish({ version: "0.0.1", page: "0.0.1" });
  const older = await run(["--check", "--version", "0.0.1"]);
  expect(older).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("0.0.1 is older than this executable") });
  expectUnchanged();
});

test.each([
  ["unsigned", { change: (offer) => delete offer["signature"] }, "is not signed"],
  ["signed by others", { key: theirs.privateKey }, "is not signed with the key"],
  ["with another sum than was signed", { change: (offer) => (offer["sha256"] = "0".repeat(64)) }, "is not signed with"],
  ["older", { version: "0.0.1" }, "only newer releases are installed"],
  ["the same", { version: current }, "only newer releases are installed"],
  ["for other machines only", { change: (offer) => delete offer["url"] }, "does not name the executable"],
  ["fetched in the clear", { change: (offer) => (offer["url"] = "http://releases.example/x") }, "not a safe source"],
  ["that does not run here", { body: new TextEncoder().encode("\x7fELF cut") }, "does not run on this machine"],
  ["that is another version", { body: makeProgram("98.0.0") }, "reports that it is 98.0.0, not 99.1.0"],
] satisfies [string, Offer, string][])("refuses a release %s, and keeps the old file", async (_, offer, sentence) => {
  publish(offer);
  const { exitCode, stderr } = await run([]);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(sentence)]);
  expectUnchanged();
});

test("refuses a file that was cut or changed on the way", async () => {
  publish();
  pages.set("/files/companiond-99.1.0", makeProgram("99.1.0").subarray(0, 20));
  const cut = await run([]);
  expect(cut.stderr).not.toContain("secret");
  expect(cut).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("is cut or was changed") });
  // The connection breaks before the promised end.
  const broken = Bun.listen({
    port: 0,
    hostname: "127.0.0.1",
    socket: {
      data(socket) {
        socket.end("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n#!/bin/sh\n");
      },
    },
  });
  publish({ change: (offer) => (offer["url"] = `http://127.0.0.1:${broken.port}/companiond`) });
  expect(await run([])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("was cut off") });
  broken.stop(true);
  expectUnchanged();
});

test("follows a redirect only to where it is safe", async () => {
  publish();
  pages.set("/files/companiond-99.1.0", () => Response.redirect("http://releases.example/companiond"));
  expect(await run([])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("not a safe source") });
  pages.set("/files/companiond-99.1.0", () => Response.redirect("/files/companiond-99.1.0"));
  expect(await run([])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("redirects more than 5 times") });
  expectUnchanged();
});

test("trusts nothing without a key, and says what is wrong with settings and answers", async () => {
  publish();
  const help = Bun.spawnSync([executable, "help"], { env: {} }).stdout.toString();
  expect([help.includes("doctor"), help.includes("update")]).toEqual([true, false]);
  const noKey = await run([], { COMPANIOND_RELEASES_KEY: "" });
  expect(noKey).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("has no key for releases") });
  const plain = await run([], { COMPANIOND_RELEASES_URL: "http://releases.example" });
  expect(plain).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("COMPANIOND_RELEASES_URL must be a URL"),
  });
  expect(await run(["--version", "1.x"])).toMatchObject({ exitCode: 2 });
  const missing = await run(["--version", "98.7.6"]);
  expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("There is no release 98.7.6") });
  pages.set("/latest.json", "<html>");
  expect(await run([])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("is not the description") });
  pages.set("/latest.json", JSON.stringify({ version: "99.1.0", targets: { "plan9-mips": {} } }));
  expect(await run([])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`no executable for ${target}`) });
  expectUnchanged();
});

test("installs the newer release that is named, and keeps the old executable beside it", async () => {
  publish({ version: "98.5.0-rc.1", page: "98.5.0-rc.1" });
  const { exitCode, stdout } = await run(["--version", "98.5.0-rc.1", "--json"]);
  expect(exitCode).toBe(0);
  const previous = join(directory.path, "bin", "companiond.previous");
  expect(JSON.parse(stdout)).toMatchObject({ version: "98.5.0-rc.1", updated: true, executable, previous });
  expect(readdirSync(join(directory.path, "bin")).sort()).toEqual(["companiond", "companiond.previous"]);
  expect(readFileSync(executable, "utf8")).toContain("98.5.0-rc.1");
  expect(statSync(executable).mode & 0o777).toBe(statSync(executablePath).mode & 0o777);
  expect(Buffer.compare(readFileSync(previous), before)).toBe(0);
});
