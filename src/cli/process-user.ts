/**
 * As whom the process works. As root it becomes the owner of the data directory, so that the server can open what a
 * command leaves there, and so that nothing that the owner put there leads root elsewhere. Files that the command line
 * names are opened as the caller.
 *
 * By seteuid, which Bun passes on to the C library, and that to every thread; a child process would have to be handed
 * each file.
 */
import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { AppError } from "../domain/errors.ts";
import { findOwnGroup, nameUser } from "../lib/user-name.ts";
import { giveUpAllButPorts } from "./port-right.ts";

export interface ProcessUser {
  /** From now on the owner of this directory, or of the one above in which it would be made. Nothing but for root. */
  enter(dataDir: string): void;
  /** Runs `work`, which is over when it returns, as the caller. */
  asCaller<T>(work: () => T): T;
  /** The same for work on one file: on one in the data directory as its owner. */
  forFile<T>(path: string, work: () => T): T;
  /**
   * Gives the caller's rights up for good; after that `asCaller` throws where there were any. `keepsPorts`: but for the
   * right to listen below 1024.
   */
  settle(keepsPorts?: boolean): void;
  /** The user that root has become, for the log; null if none. */
  readonly became: string | null;
}

/** Without root, and for tests: always the caller. */
export const plainUser: ProcessUser = {
  enter() {},
  asCaller: (work) => work(),
  forFile: (_, work) => work(),
  settle() {},
  became: null,
};

/** Not in the types of Node. */
type FullProcess = NodeJS.Process & { initgroups?(user: number, extraGroup: number): void };

interface Ids {
  uid: number;
  gid: number;
}

export function openProcessUser(): ProcessUser {
  const { geteuid, seteuid, setegid, setuid, setgid, setgroups, initgroups, getgroups } = process as FullProcess;
  if (geteuid?.() !== 0 || !seteuid || !setegid || !setuid || !setgid || !setgroups || !initgroups || !getgroups) {
    return plainUser;
  }
  const caller = { uid: 0, gid: process.getegid?.() ?? 0 };
  const callersGroups = getgroups();
  let entered: { dataDir: string; owner: Ids } | null = null;
  let isSettled = false;

  function become({ uid, gid }: Ids): void {
    // In this order: only root may choose groups.
    seteuid?.(0);
    if (uid === 0) setgroups?.(callersGroups);
    else takeGroups(uid, gid);
    setegid?.(gid);
    seteuid?.(uid);
  }

  /** The groups of its login, where it has one: they may be what grants access to the directory. */
  function takeGroups(uid: number, gid: number): void {
    try {
      initgroups?.(uid, gid);
    } catch {
      setgroups?.([gid]);
    }
  }

  function asCaller<T>(work: () => T): T {
    if (entered === null) return work();
    if (isSettled) throw new Error("the rights of the caller were given up");
    become(caller);
    try {
      return work();
    } finally {
      become(entered.owner);
    }
  }

  return {
    enter(dataDir) {
      if (isSettled) throw new Error("the rights of the caller were given up");
      if (entered !== null) become(caller);
      entered = null;
      refuseLinks(dataDir);
      const owner = findOwner(dataDir);
      refuseForeignPath(dataDir, owner.uid);
      if (owner.uid === 0) return;
      const uid = owner.uid;
      // A directory that was only given a new owner still has root's group, which opens files of root to its members.
      const gid = owner.gid === 0 ? (findOwnGroup(uid) ?? uid) : owner.gid;
      try {
        become({ uid, gid });
      } catch (error) {
        throw mayNotBecome(dataDir, uid, error);
      }
      entered = { dataDir, owner: { uid, gid } };
    },
    asCaller,
    forFile: (path, work) =>
      entered !== null && asCaller(() => isInside(entered?.dataDir ?? "", path)) ? work() : asCaller(work),
    settle(keepsPorts = false) {
      if (entered === null || isSettled) return;
      const { uid, gid } = entered.owner;
      become(caller);
      takeGroups(uid, gid);
      setgid(gid);
      if (keepsPorts) giveUpAllButPorts(() => setuid(uid));
      else setuid(uid);
      isSettled = true;
    },
    get became() {
      return entered === null ? null : nameUser(entered.owner.uid);
    },
  };
}

/** In a container, root may have lost the right to, and then it may not write there either. */
function mayNotBecome(dataDir: string, uid: number, cause: unknown): AppError {
  const sentence =
    `${dataDir} belongs to ${nameUser(uid)}, as whom root works there, and this process of root may not. Run it as that ` +
    "user, or with the capabilities SETUID and SETGID.";
  return new AppError("conflict", sentence, { cause });
}

/** Of the directory, or of the nearest one above: what is made there has to be usable by its owner. */
function findOwner(path: string): Ids {
  const facts = find(path);
  if (facts !== null) return facts;
  const above = dirname(path);
  return above === path ? { uid: 0, gid: 0 } : findOwner(above);
}

function find(path: string, read: (path: string) => Stats = statSync): Stats | null {
  try {
    return read(path);
  } catch {
    return null;
  }
}

/** The directory itself may be reached by a link. */
function refuseLinks(dataDir: string): void {
  const link = listEntries(dataDir).find((entry) => entry.isSymbolicLink());
  if (link === undefined) return;
  throw new AppError(
    "conflict",
    `${join(dataDir, link.name)} is a symbolic link, which companiond does not follow as root. Replace it with what it ` +
      "points to, or run the command as the owner of the directory.",
  );
}

/** The owner of a link on the path to the directory has chosen it: that must be root, or the directory's owner. */
function refuseForeignPath(dataDir: string, owner: number): void {
  const link = findLinks(resolve(dataDir)).find(({ uid }) => uid !== 0 && uid !== owner);
  if (link === undefined) return;
  throw new AppError(
    "conflict",
    `${link.path} is a symbolic link of ${nameUser(link.uid)} to what belongs to ${nameUser(owner)}, which companiond does ` +
      "not follow as root. Name the directory itself.",
  );
}

/** As many as the kernel follows. */
const maxLinks = 40;

/** All links on the path, also on the path that a link names. */
function findLinks(path: string, left = maxLinks): { path: string; uid: number }[] {
  let at: string = sep;
  const names = path.split(sep).filter((name) => name !== "");
  for (const [index, name] of names.entries()) {
    at = join(at, name);
    const facts = find(at, lstatSync);
    if (facts === null || left === 0) return [];
    if (!facts.isSymbolicLink()) continue;
    const onward = resolve(dirname(at), readlinkSync(at), ...names.slice(index + 1));
    return [{ path: at, uid: facts.uid }, ...findLinks(onward, left - 1)];
  }
  return [];
}

/** None where there is no such directory, or root has lost the right to access it. */
function listEntries(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** By its name, and by where links lead: in both cases its owner may have chosen what is there. */
function isInside(dataDir: string, path: string): boolean {
  const named = resolve(path);
  return isBelow(resolve(dataDir), named) || isBelow(findReal(dataDir), findReal(named));
}

function isBelow(directory: string, path: string): boolean {
  const steps = relative(directory, path);
  return steps !== ".." && !steps.startsWith("../");
}

/** Where the path leads, or the nearest of what there is of it. */
function findReal(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(findReal(above), relative(above, path));
  }
}
