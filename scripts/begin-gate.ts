/**
 * Says what the gate takes before it takes it, installs the packages of npm, and runs `ci.ts`, whose options it passes on.
 * Nothing that it imports needs these packages.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findTestFiles, uninstalledPrograms } from "./test-files.ts";

const root = join(import.meta.dir, "..");
const words = process.argv.slice(2);

/** On two cores that do nothing else. */
const runs = {
  "--quick": { what: "the quick tests", minutes: "about a minute" },
  "--stress": { what: "the tests while other work takes the machine", minutes: "up to 30 minutes" },
  "--full": { what: "the gate, and what is dear and seldom broken", minutes: "about 20 minutes" },
};
const gate = { what: "the gate", minutes: "about 10 minutes" };

const { what, minutes } = Object.entries(runs).find(([word]) => words.includes(word))?.[1] ?? gate;
console.log(`This runs ${what}: ${minutes} on two cores.`);
for (const line of listInstalls()) console.log(`It installs ${line}`);
const install = Bun.spawnSync([process.execPath, "install", "--frozen-lockfile"], {
  cwd: root,
  stdio: ["ignore", 1, 2],
});
if (install.exitCode !== 0) process.exit(install.exitCode);
await import("./ci.ts");

function* listInstalls(): Generator<string> {
  if (!existsSync(join(root, "node_modules"))) yield "the packages of npm: 480 MB, in this directory.";
  if (words.includes("--quick")) return;
  const count = new Set(uninstalledPrograms(findTestFiles()).map((program) => program.package)).size;
  if (count > 0 && !words.includes("--no-system-packages"))
    yield `${count} packages of Debian's, as root; it names them.`;
  if (!words.includes("--stress"))
    yield "120 MB more from npm, in test/api-tools, if it has to check another API document.";
}
