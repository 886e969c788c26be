/** What keeps a process from working in a data directory or with a file in it, as distinct causes, each with its remedy. */
import { accessSync, constants, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../../lib/error-code.ts";
import { findUserName, nameUser } from "../../lib/user-name.ts";

export interface Obstacle {
  kind: "missing" | "wrong_kind" | "read_only" | "foreign" | "forbidden";
  detail: string;
  advice: string;
}

/** How an operator configures where the data is. */
const howToName = "--data-dir or COMPANIOND_DATA_DIR";

/** What to do where there is nothing yet, which may be as it should be. */
export const howToBegin = `For a new installation start serve, which creates it. Otherwise name the directory that holds the data with ${howToName}.`;

/** Why a command found no data: where it searched, and how to name another directory. */
export function describeNoDatabase(dataDir: string): string {
  return (
    `There is no database in ${dataDir}. Name the directory that holds it with ${howToName}. ` +
    "Only serve, account create, restore and copy create one."
  );
}

/** Null if nothing can be seen that keeps this process from reading and writing there. */
export function findObstacle(path: string, as: "directory" | "file"): Obstacle | null {
  const facts = inspect(path);
  if (facts === "shut") return judgeShut(path);
  if (facts === null) return judgeMissing(path);
  if (as === "directory" && !facts.isDirectory()) return notADirectory(path, path);
  if (as === "file" && facts.isDirectory()) {
    return { kind: "wrong_kind", detail: `${path} is a directory, where a file should be.`, advice: "Move it away." };
  }
  return judgeRights(path);
}

function inspect(path: string): Stats | "shut" | null {
  try {
    return statSync(path);
  } catch (error) {
    return codeOf(error) === "EACCES" ? "shut" : null;
  }
}

/** The nearest directory above that can be inspected. */
function findSeen(path: string): string {
  const above = dirname(path);
  const facts = inspect(above);
  return above === path || (facts !== null && facts !== "shut") ? above : findSeen(above);
}

function judgeMissing(path: string): Obstacle {
  const above = findSeen(path);
  if (inspect(above) instanceof Object && !statSync(above).isDirectory()) return notADirectory(above, path);
  const obstacle = judgeRights(above);
  const detail = `${path} does not exist.`;
  if (obstacle?.kind === "read_only") return { ...obstacle, detail: `${detail} ${obstacle.detail}` };
  if (obstacle !== null) {
    // Never to be given away: it may be all of /var/lib.
    const advice = `Let root make it for this user: install -d -m 700 -o ${nameOwn()} ${path}. Or name another with ${howToName}.`;
    return { kind: obstacle.kind, detail: `${detail} ${obstacle.detail}`, advice };
  }
  return { kind: "missing", detail, advice: howToBegin };
}

function judgeShut(path: string): Obstacle | null {
  const obstacle = judgeRights(findSeen(path));
  if (obstacle === null || obstacle.kind === "read_only") return obstacle;
  const detail = `${path} cannot be looked at. ${obstacle.detail}`;
  return { ...obstacle, detail, advice: `Run this as the user whose data it is, or name another with ${howToName}.` };
}

function notADirectory(file: string, wanted: string): Obstacle {
  const isItself = file === wanted;
  return {
    kind: "wrong_kind",
    detail: isItself
      ? `${file} is a file, not a directory.`
      : `${file} is a file, so there can be no directory ${wanted}.`,
    advice: `Name the directory that holds the data with ${howToName}${isItself ? `, such as ${dirname(file)}` : ""}.`,
  };
}

function judgeRights(path: string): Obstacle | null {
  const facts = statSync(path);
  const isDirectory = facts.isDirectory();
  try {
    accessSync(path, constants.R_OK | constants.W_OK | (isDirectory ? constants.X_OK : 0));
    return null;
  } catch (error) {
    if (codeOf(error) === "EROFS") {
      return {
        kind: "read_only",
        detail: `The file system of ${path} is read-only.`,
        advice: "Mount it for writing, or move the data to one that is. The data itself may be fine.",
      };
    }
    return judgeOwner(path, facts, isDirectory);
  }
}

function judgeOwner(path: string, { uid, mode }: Stats, isDirectory: boolean): Obstacle {
  const own = process.geteuid?.() ?? uid;
  const rights = (mode & 0o777).toString(8);
  if (uid === own) {
    const detail = `${path} may not be read and written by its own user (mode ${rights}).`;
    return { kind: "forbidden", detail, advice: `chmod u+rwX ${path}` };
  }
  const detail = `${path} belongs to ${nameUser(uid)}; this is ${nameUser(own)}, who may not read and write it (mode ${rights}).`;
  // Files that belong to no other service are leftovers of a command that root ran.
  if (uid !== 0) {
    // Root works as the owner of the directory.
    const isRootEnough = isDirectory || statSync(dirname(path)).uid === uid;
    const command = isRootEnough ? "sudo companiond …" : `sudo -u ${findUserName(uid) ?? `#${uid}`} companiond …`;
    return { kind: "foreign", detail, advice: `Run this as its owner: ${command}` };
  }
  const chown = `chown ${nameOwn()} ${path}`;
  const advice = isDirectory
    ? `If it is there for this service alone, give it to its user: ${chown}. Otherwise name another with ${howToName}.`
    : `Give it to the user of the service: ${chown}`;
  return { kind: "foreign", detail, advice };
}

/** For a command line. */
function nameOwn(): string {
  const own = process.geteuid?.() ?? 0;
  return findUserName(own) ?? String(own);
}
