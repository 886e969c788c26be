/** Puts a new executable where the running one was, which stays beside it as `companiond.previous`. */
import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { codeOf } from "../../lib/error-code.ts";
import { syncFile } from "../../lib/sync-file.ts";
import { CommandFailure } from "../command.ts";

/** How long the new executable may take to print its version. */
const trialMs = 30_000;
const previousName = "companiond.previous";

/** Throws `CommandFailure` where the executable is not ours to replace: before anything is fetched. */
export async function requireReplaceable(executable: string): Promise<void> {
  const owner = await findPackage(executable);
  if (owner !== null) {
    throw new CommandFailure(
      `${executable} belongs to the Debian package ${owner}: update it with the package, dpkg -i or apt.`,
    );
  }
  if (process.platform === "win32") {
    throw new CommandFailure(
      "Windows does not let a running program be replaced: stop the server, and replace the executable by hand.",
    );
  }
  if (basename(executable) === previousName) {
    throw new CommandFailure(
      `${executable} is what an update kept. To go back to it, rename it to companiond; then that can be updated.`,
    );
  }
  const previous = previousPath(executable);
  if (lstatSync(previous, { throwIfNoEntry: false })?.isDirectory()) {
    throw new CommandFailure(`${previous} is a directory, and the old executable goes there: move it away.`);
  }
}

/** The name of the package that installed the file; null if none did, or there is no dpkg. */
export async function findPackage(executable: string): Promise<string | null> {
  const list = await readFile("/var/lib/dpkg/info/companiond.list", "utf8").catch(() => "");
  return list.split("\n").includes(executable) ? "companiond" : null;
}

/** What `setcap` gave to the file, such as the right to port 443: it stays with the old one. Null where there is nothing. */
export async function findCapabilities(executable: string): Promise<string | null> {
  // Where there is setcap, there is getcap.
  const getcap = Bun.which("getcap", { PATH: "/usr/sbin:/sbin:/usr/bin:/bin" });
  if (getcap === null) return null;
  const child = Bun.spawn([getcap, executable], { env: {}, stdin: "ignore", stdout: "pipe", stderr: "ignore" });
  return /\b(cap_\S+)\s*$/.exec(await new Response(child.stdout).text())?.[1] ?? null;
}

/** The message where the file system refuses a step; null for any other error. */
export function explainRefusal(error: unknown, executable: string): CommandFailure | null {
  if (!(error instanceof Error && "syscall" in error && "code" in error)) return null;
  const folder = dirname(executable);
  switch (error.code) {
    case "EROFS":
      return new CommandFailure(`${folder} is on a read-only file system: update the image, or what mounts it.`);
    case "EACCES":
    case "EPERM":
      return new CommandFailure(
        `${folder} cannot be written to (${error.code}). Run it as the user that installed companiond, such as root.`,
      );
    case "ENOSPC":
    case "EDQUOT":
      return new CommandFailure(`${folder} has no room for another executable (${error.code}). Nothing has changed.`);
    default:
      return new CommandFailure(`${error.message}. The executable is as it was.`);
  }
}

/** Removes what updates left that were interrupted. */
export function clearLeftovers(executable: string): void {
  const folder = dirname(executable);
  const ours = new RegExp(`^${RegExp.escape(basename(executable))}\\.(\\d+)\\.(update|kept)$`);
  for (const name of readdirSync(folder)) {
    const [, pid] = ours.exec(name) ?? [];
    // In a container, every run can have the same number.
    const isLeft = pid !== undefined && (Number(pid) === process.pid || !isAlive(Number(pid)));
    if (isLeft) rmSync(join(folder, name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/** Where the new executable is written before it is known to be good: in the same file system. */
export function incomingPath(executable: string): string {
  return `${executable}.${process.pid}.update`;
}

/** Starts the new executable, which must print its version: it may be for another libc or processor, or damaged. */
export async function tryOut(incoming: string, executable: string, version: string): Promise<void> {
  const { mode, uid, gid } = statSync(executable);
  if (process.geteuid?.() === 0) chownSync(incoming, uid, gid);
  chmodSync(incoming, mode & 0o777);
  const said = await askVersion(incoming);
  if (said === version) return;
  throw new CommandFailure(
    said === null
      ? "The new executable does not run on this machine. Nothing has changed."
      : `The new executable reports that it is ${said}, not ${version}. Nothing has changed.`,
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

/** Which file the running program is: by now, its name may be another's. */
export function identifyRunning(executable: string): string {
  return identify(process.platform === "linux" ? "/proc/self/exe" : executable);
}

function identify(file: string): string {
  const { dev, ino } = statSync(file, { bigint: true });
  return `${dev}:${ino}`;
}

/**
 * Returns the path of the old executable. At no moment is there no executable. Throws where it is not the one with this
 * identity: another update was quicker, and its new executable would be kept as the old one.
 */
export function replaceExecutable(incoming: string, executable: string, identity: string): string {
  if (identify(executable) !== identity) {
    throw new CommandFailure(`${executable} was replaced meanwhile, such as by another update: it is left as it is.`);
  }
  const previous = previousPath(executable);
  const kept = `${executable}.${process.pid}.kept`;
  try {
    keep(executable, kept);
    renameSync(kept, previous);
    renameSync(incoming, executable);
  } finally {
    removeQuietly(kept);
  }
  syncFile(dirname(executable));
  return previous;
}

/** A file system that refuses has refused the file, too; its first error is what counts. */
export function removeQuietly(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {}
}

function previousPath(executable: string): string {
  return join(dirname(executable), previousName);
}

function keep(executable: string, kept: string): void {
  try {
    linkSync(executable, kept);
  } catch {
    // The file system has no links, or the file is another user's: Linux then refuses one (protected_hardlinks).
    copyFileSync(executable, kept, constants.COPYFILE_EXCL);
  }
}
