/** What a build says of itself: its commit and its time, the same for everybody who builds the same commit. */
import { join } from "node:path";

const root = join(import.meta.dir, "..");

/** With `+` if files differ from the commit; null outside of a clone. */
export function readCommit(): string | null {
  const commit = run("git", "rev-parse", "--short=12", "HEAD");
  if (commit === null) return null;
  return isClean() ? commit : `${commit}+`;
}

/** `SOURCE_DATE_EPOCH` if it is set, as reproducible builds agree; otherwise the commit's time, or now for changed files. */
export function buildTime(environment = process.env): Date {
  const given = environment["SOURCE_DATE_EPOCH"];
  if (given !== undefined && given !== "") {
    if (/^\d{1,11}$/.test(given)) return new Date(Number(given) * 1000);
    throw new Error("SOURCE_DATE_EPOCH must be whole seconds since 1970.");
  }
  const committedAt = isClean() ? run("git", "log", "-1", "--format=%ct") : null;
  return committedAt === null ? new Date() : new Date(Number(committedAt) * 1000);
}

function isClean(): boolean {
  return run("git", "status", "--porcelain", "--untracked-files=no") === "";
}

function run(...command: string[]): string | null {
  try {
    const done = Bun.spawnSync(command, { cwd: root, stderr: "ignore" });
    return done.success ? done.stdout.toString().trim() : null;
  } catch {
    return null;
  }
}
