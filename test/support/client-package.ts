/** The client for servers as others install it: the file of the release, unpacked where a program resolves packages. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { clientPackageName, writeClientPackage } from "../../scripts/release/client-package.ts";

/** Makes `companiond-client` importable for programs in the directory. */
export async function installClientPackage(directory: string): Promise<string> {
  const archive = join(directory, clientPackageName(version));
  writeFileSync(archive, await writeClientPackage(new Date(0), 1));
  const installed = join(directory, "node_modules", "companiond-client");
  mkdirSync(installed, { recursive: true });
  const { success, stderr } = Bun.spawnSync(["tar", "-xzf", archive, "--strip-components=1"], {
    cwd: installed,
    stdout: "ignore",
    stderr: "pipe",
  });
  if (!success) throw new Error(`${archive} could not be unpacked: ${stderr}`);
  return installed;
}
