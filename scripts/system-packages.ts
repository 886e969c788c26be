/** Installs the programs that tests run: says first which and why, and only where it can. */
import type { SystemProgram } from "./test-files.ts";

const installCommand = ["apt-get", "install", "-y", "--no-install-recommends"];

export interface Machine {
  /** Whether packages can be installed: as root, with apt-get. */
  canInstall: boolean;
  say(line: string): void;
  /** Resolves with the exit code. */
  run(command: readonly string[]): Promise<number>;
}

const thisMachine: Machine = {
  canInstall: process.getuid?.() === 0 && Bun.which("apt-get") !== null,
  say: (line) => console.log(line),
  run(command) {
    const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    return Bun.spawn([...command], { env: environment, stdin: "ignore", stdout: "ignore", stderr: "inherit" }).exited;
  },
};

/** Installs what is missing if possible; otherwise prints the command to run. */
export async function installMissing(missing: readonly SystemProgram[], machine = thisMachine): Promise<void> {
  if (missing.length === 0) return;
  const names = [...new Set(missing.map((program) => program.package))];
  machine.say("The tests run programs that this machine does not have:");
  for (const { package: name, path, purpose } of missing) machine.say(`  ${name} (${path}): ${purpose}`);
  const command = [...installCommand, ...names];
  if (!machine.canInstall) {
    machine.say(`Install them with: sudo ${command.join(" ")}`);
    machine.say("Or leave them, and the tests that need them: bun run ci --no-system-packages");
    return;
  }
  machine.say("Installing these Debian packages (--no-system-packages leaves them, and the tests that need them):");
  for (const step of [["apt-get", "update"], command]) {
    machine.say(`  ${step.join(" ")}`);
    if ((await machine.run(step)) !== 0) machine.say(`${step.join(" ")} failed.`);
  }
}
