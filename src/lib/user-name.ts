/** What this machine knows of a user by its number. */
import { readFileSync } from "node:fs";

/** `companiond (998)`, or `user 998` where the number has no name. */
export function nameUser(uid: number): string {
  const name = findUserName(uid);
  return name === null ? `user ${uid}` : `${name} (${uid})`;
}

/** Null where the number has no name on this machine. Not from `os.userInfo()`, which believes the environment. */
export function findUserName(uid: number): string | null {
  return findFields(uid)?.[0] ?? null;
}

/** The group of its login; null where the number has no name on this machine. */
export function findOwnGroup(uid: number): number | null {
  const gid = findFields(uid)?.[3];
  return gid === undefined ? null : Number(gid);
}

function findFields(uid: number): string[] | null {
  try {
    const lines = readFileSync("/etc/passwd", "utf8").split("\n");
    return lines.map((line) => line.split(":")).find((fields) => fields[2] === String(uid)) ?? null;
  } catch {
    return null;
  }
}
