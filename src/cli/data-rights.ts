/**
 * Makes the data directory, and finds out who else on the machine could replace what is in it: any user who can write
 * to it, or owns it.
 */
import { mkdirSync, statSync } from "node:fs";
import { findObstacle } from "../contracts/store/data-location.ts";
import { codeOf } from "../lib/error-code.ts";
import { CommandFailure } from "./command.ts";

export interface Weakness {
  readonly sentence: string;
  readonly advice: string;
}

/** For a server whose storage engine keeps nothing in it. Throws `CommandFailure` with a sentence. */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    const found = findObstacle(dataDir, "directory");
    if (found !== null && found.kind !== "missing") throw new CommandFailure(`${found.detail} ${found.advice}`);
    const reason = codeOf(error) || String(error);
    throw new CommandFailure(`The data directory ${dataDir} cannot be created (${reason}).`);
  }
}

/** Null if the directory belongs to this user alone; permissions mean nothing on Windows. */
export function findWeakness(dataDir: string, ownUser = process.geteuid?.()): Weakness | null {
  if (ownUser === undefined) return null;
  const { uid, mode } = statSync(dataDir);
  if (uid !== ownUser) {
    return {
      sentence: `${dataDir} belongs to another user (${uid}; this one is ${ownUser}), who can replace what is in it.`,
      advice: `chown ${ownUser} ${dataDir}, or run the server as its owner.`,
    };
  }
  if ((mode & 0o022) !== 0) {
    const rights = (mode & 0o777).toString(8);
    return {
      sentence: `Other users of the machine can write in ${dataDir} (mode ${rights}), and so replace what is in it.`,
      advice: `chmod 700 ${dataDir}`,
    };
  }
  return null;
}
