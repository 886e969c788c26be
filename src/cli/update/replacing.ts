/** Puts a new executable in place of the running one, which stays beside it as `companiond.previous`. */
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CommandFailure } from "../command.ts";

/** How long the new executable may take to say its version. */
const trialMs = 30_000;

/** Throws `CommandFailure` where the executable is not ours to replace: before anything is fetched. */
export async function requireReplaceable(executable: string): Promise<void> {
  const owner = await findPackage(executable);
  if (owner !== null) {
    throw new CommandFailure(
      `${executable} belongs to the Debian package ${owner}: update it with the package, dpkg -i or apt.`,
    );
  }
  const probe = `${executable}.${process.pid}.probe`;
  try {
    closeSync(openSync(probe, "wx", 0o600));
    rmSync(probe);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    const folder = dirname(executable);
    throw new CommandFailure(
      code === "EROFS"
        ? `${folder} is on a read-only file system: update the image, or what mounts it.`
        : `${folder} cannot be written to (${code}). Run it as the user that installed companiond, such as root.`,
    );
  }
}

/** The name of the package that installed the file; null if none did, or there is no dpkg. */
async function findPackage(executable: string): Promise<string | null> {
  const list = await readFile("/var/lib/dpkg/info/companiond.list", "utf8").catch(() => "");
  return list.split("\n").includes(executable) ? "companiond" : null;
}

/** Removes what updates left that did not end by themselves. */
export function clearLeftovers(executable: string): void {
  const folder = dirname(executable);
  const ours = new RegExp(`^${RegExp.escape(basename(executable))}\\.(\\d+)\\.(update|probe|kept)$`);
  for (const name of readdirSync(folder)) {
    const [, pid] = ours.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(folder, name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Where the new executable is written before it is known to be good: in the same file system. */
export function incomingPath(executable: string): string {
  return `${executable}.${process.pid}.update`;
}

/** Starts the new executable, which must say its version: it may be for another libc or processor, or damaged. */
export async function tryOut(incoming: string, executable: string, version: string): Promise<void> {
  const { mode, uid, gid } = statSync(executable);
  if (process.geteuid?.() === 0) chownSync(incoming, uid, gid);
  chmodSync(incoming, mode & 0o777);
  const said = await askVersion(incoming);
  if (said === version) return;
  throw new CommandFailure(
    said === null
      ? "The new executable does not run on this machine. Nothing has changed."
      : `The new executable says that it is ${said}, not ${version}. Nothing has changed.`,
  );
}

async function askVersion(executable: string): Promise<string | null> {
  try {
    const child = Bun.spawn([executable, "version", "--json"], {
      env: {},
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      timeout: trialMs,
    });
    const [text, exitCode] = await Promise.all([new Response(child.stdout).text(), child.exited]);
    const { version }: { version?: unknown } = JSON.parse(text);
    return exitCode === 0 && typeof version === "string" ? version : null;
  } catch {
    return null;
  }
}

/** Returns the path of the old executable. At no moment is there no executable. */
export function replaceExecutable(incoming: string, executable: string): string {
  const previous = join(dirname(executable), "companiond.previous");
  const kept = `${executable}.${process.pid}.kept`;
  try {
    linkSync(executable, kept);
    renameSync(kept, previous);
    renameSync(incoming, executable);
  } finally {
    rmSync(kept, { force: true });
  }
  sync(dirname(executable));
  return previous;
}

/** Makes the new names durable. */
function sync(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
