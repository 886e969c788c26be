/** The client for servers as others install it: packed, and unpacked where a program looks for packages. */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { buildClientPackage } from "../../scripts/build-sdk-package.ts";

/** Makes `companiond-client` importable for programs in the directory. */
export async function installClientPackage(directory: string): Promise<string> {
  const built = join(directory, "built");
  await buildClientPackage(built);
  run(["bun", "pm", "pack", "--destination", directory, "--quiet"], built);
  const archive = readdirSync(directory).find((file) => file.endsWith(".tgz")) ?? "none";
  const installed = join(directory, "node_modules", "companiond-client");
  mkdirSync(installed, { recursive: true });
  run(["tar", "-xzf", join(directory, archive), "--strip-components=1"], installed);
  return installed;
}

function run([program = "", ...args]: string[], cwd: string): void {
  const command = [program === "bun" ? process.execPath : program, ...args];
  const { success, stderr } = Bun.spawnSync(command, { cwd, stdout: "ignore", stderr: "pipe" });
  if (!success) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
}
