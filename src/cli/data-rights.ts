/** Finds out who else on the machine could replace the database: whoever can write to its directory, or owns it. */
import { statSync } from "node:fs";

export interface Weakness {
  readonly sentence: string;
  readonly advice: string;
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
      sentence: `Other users of the machine can write in ${dataDir} (mode ${rights}), and so replace the database.`,
      advice: `chmod 700 ${dataDir}`,
    };
  }
  return null;
}
