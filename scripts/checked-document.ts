/**
 * Runs linters and generators of clients on the API document, and notes in `test/api-tools/checked` what they found
 * nothing wrong with. The gate runs them for anything else: another document, other tools, programs or tests.
 *
 *   bun scripts/checked-document.ts              # runs them, and notes it if all is well
 *   bun scripts/checked-document.ts --compare    # ends with 1 if something else is noted
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { apiDocument } from "../test/support/conformance.ts";
import { findTestFiles } from "./test-files.ts";

const root = join(import.meta.dir, "..");
const noted = join(root, "test/api-tools/checked");
const tests = findTestFiles()
  .filter((file) => file.needsApiTools)
  .map((file) => file.path);

/** Of all that decides on what they say. */
function computePrint(): string {
  const tools = ["package.json", "bun.lock", "generate.mjs", "every-kind.ts"].map((name) => `test/api-tools/${name}`);
  const programs = [...new Bun.Glob("examples/generated/*.{ts,json}").scanSync({ cwd: root })].sort();
  const files = [...tests, "test/support/api-tools.ts", ...tools, ...programs];
  const texts = files.map((path) => [path, readFileSync(join(root, path), "utf8")]);
  const versions = [Bun.version, manifest.devDependencies.typescript];
  return new Bun.SHA256().update(JSON.stringify([apiDocument, texts, versions])).digest("hex");
}

const print = computePrint();
if (process.argv[2] === "--compare") {
  process.exit(existsSync(noted) && readFileSync(noted, "utf8").trim() === print ? 0 : 1);
}
const paths = tests.map((path) => `./${path}`);
const { exitCode } = Bun.spawnSync([process.execPath, "test", "--timeout", "120000", ...paths], {
  cwd: root,
  stdio: ["ignore", 1, 2],
});
if (exitCode !== 0) process.exit(exitCode);
writeFileSync(noted, `${print}\n`);
console.log("Noted in test/api-tools/checked: commit it with what has changed.");
