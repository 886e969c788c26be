/** Puts the programs that tests run on the machine: says first which and why, and never without being able to. */
import type { SystemProgram } from "./test-files.ts";

const installCommand = ["apt-get", "install", "-y", "--no-install-recommends"];

/** Installs what is missing, as root on Debian; elsewhere says the one command that does. */
export async function installMissing(missing: readonly SystemProgram[]): Promise<void> {
  if (missing.length === 0) return;
  const names = [...new Set(missing.map((program) => program.package))];
  console.log("The tests run programs that this machine does not have:");
  for (const { package: name, path, purpose } of missing) console.log(`  ${name} (${path}): ${purpose}`);
  const command = [...installCommand, ...names];
  if (process.getuid?.() !== 0 || Bun.which("apt-get") === null) {
    console.log(`Install them with: sudo ${command.join(" ")}`);
    console.log("Or leave them, and the tests that need them: bun run ci --no-system-packages");
    return;
  }
  console.log("Installing these Debian packages (--no-system-packages leaves them, and the tests that need them):");
  for (const step of [["apt-get", "update"], command]) {
    console.log(`  ${step.join(" ")}`);
    const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const child = Bun.spawn(step, { env: environment, stdin: "ignore", stdout: "ignore", stderr: "inherit" });
    if ((await child.exited) !== 0) console.log(`${step.join(" ")} failed.`);
  }
}
