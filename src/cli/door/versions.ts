/** What to do where a running server and this command are of different versions. */
import { buildInfo } from "../../lib/build-info.ts";

/** A full sentence that begins with who is which. */
export function compareVersions(running: string): string {
  return `The running server is version ${running}, this command is ${buildInfo.version}.`;
}

export function adviseOnVersions(running: string): string {
  return isNewer(running)
    ? "This command is an older executable: use the one that the server runs, or update this one."
    : `Restart the service to run ${buildInfo.version} (systemctl restart companiond), or use the executable that it runs.`;
}

/** False for what is no version. */
function isNewer(running: string): boolean {
  return /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(running) && Bun.semver.order(running, buildInfo.version) > 0;
}
