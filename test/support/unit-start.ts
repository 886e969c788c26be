/** What systemd would start, read from the unit: the command, its user's rights and its environment. */
import { chmodSync, chownSync, constants, copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { executablePath } from "./executable.ts";
import type { TemporaryDirectory } from "./temporary.ts";

/** Debian's `nobody`, instead of the unit's own user, which this machine does not have. */
export const unitUser = 65_534;

export interface UnitStart {
  command: string[];
  /** The directories of credentials and of state. */
  credentials: string;
  state: string;
  /** Where that user, too, may run it. */
  executable: string;
}

/** The words of `ExecStart` with the executable, state directory and credentials of the test instead of the unit's. */
export function readUnitStart(directory: TemporaryDirectory): UnitStart {
  const text = readFileSync(join(import.meta.dir, "../../deploy/companiond.service"), "utf8");
  const settings = new Map(
    [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value] as const),
  );
  const credentials = directory.file("credentials");
  const state = directory.file("state");
  const executable = directory.file("companiond");
  chmodSync(directory.path, 0o755);
  // The project's own directory may be root's alone.
  copyFileSync(executablePath, executable, constants.COPYFILE_FICLONE);
  for (const path of [credentials, state]) {
    mkdirSync(path, { mode: 0o700 });
    chownSync(path, unitUser, unitUser);
  }
  const words = (settings.get("ExecStart") ?? "").split(" ").map((word) =>
    word
      .replace("/usr/local/bin/companiond", executable)
      .replace(`/var/lib/${settings.get("StateDirectory")}`, state)
      .replace("%d", credentials),
  );
  const user = ["--reuid", String(unitUser), "--regid", String(unitUser), "--clear-groups", "--no-new-privs"];
  return { command: ["/usr/bin/setpriv", ...user, "--bounding-set=-all", ...words], credentials, state, executable };
}
