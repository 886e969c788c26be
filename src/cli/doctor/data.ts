/** Checks the data directory: permissions and, where the database is in it, disk, database and backups. */
import { existsSync, readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { storageOf } from "../../app/services.ts";
import type { Config } from "../../config/config.ts";
import { findObstacle, howToBegin, type Obstacle } from "../../contracts/store/data-location.ts";
import type { StorageEngine } from "../../contracts/store/engine.ts";
import { AppError } from "../../domain/errors.ts";
import { findWeakness } from "../data-rights.ts";
import { describeFailure, type Finding, fail, ok, warn } from "./finding.ts";
import { judgeSchema } from "./schema.ts";

const mebibyte = 1024 * 1024;
/** With less free space than this, writes will soon fail; below the second threshold it deserves a warning. */
const scarceBytes = 64 * mebibyte;
const scantBytes = 1024 * mebibyte;
/** Network file systems, by their magic numbers on Linux: NFS, SMB, SMB2, CIFS, FUSE, 9P. */
const remoteTypes = new Set([0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x65735546, 0x01021997]);

export async function examineData(config: Config): Promise<Finding[]> {
  const { dataDir } = config;
  if (config.database !== null) return examineWithoutDatabase(dataDir);
  const obstacle = findObstacle(dataDir, "directory");
  if (obstacle !== null && obstacle.kind !== "read_only") return [toFinding(obstacle)];
  const storage = storageOf(config);
  const disk = examineDisk(dataDir, (await storage.sizes[0]?.read()) ?? 0);
  return [examineDirectory(dataDir), disk, ...examineDatabase(dataDir, storage), examineBackups(config)];
}

/** With a database server, the directory has little more than one-time links and the positions of interrupted imports. */
function examineWithoutDatabase(dataDir: string): Finding[] {
  const backups = ok("backups", "PostgreSQL's own tools make them; this program does not see whether they do.");
  const obstacle = findObstacle(dataDir, "directory");
  if (obstacle === null) return [examineDirectory(dataDir), backups];
  if (obstacle.kind !== "missing") return [toFinding(obstacle), backups];
  return [ok("data directory", `${dataDir} does not exist yet; serve creates it.`), backups];
}

function toFinding({ detail, advice }: Obstacle): Finding {
  return fail("data directory", detail, advice);
}

function examineDirectory(dataDir: string): Finding {
  const name = "data directory";
  const obstacle = findObstacle(dataDir, "directory") ?? findFileObstacle(dataDir);
  if (obstacle !== null) return toFinding(obstacle);
  const weakness = findWeakness(dataDir);
  if (weakness !== null) return warn(name, weakness.sentence, weakness.advice);
  if (process.platform !== "win32" && (statSync(dataDir).mode & 0o077) !== 0) {
    return warn(name, `${dataDir} is accessible to other users of the machine.`, `chmod 700 ${dataDir}`);
  }
  const open = readdirSync(dataDir).filter((entry) => (statSync(join(dataDir, entry)).mode & 0o077) !== 0);
  if (process.platform !== "win32" && open.length > 0) {
    return warn(name, `${open.join(", ")} in ${dataDir} can be read by other users.`, "Run chmod 600 on these files.");
  }
  // Root asks as the directory's owner: "this user" would be wrong for the reader.
  return ok(name, `${dataDir} belongs to user ${statSync(dataDir).uid} alone.`);
}

/** Of what is in it: one file of another user is enough to stop the server. */
function findFileObstacle(dataDir: string): Obstacle | null {
  for (const entry of readdirSync(dataDir, { withFileTypes: true })) {
    const found = findObstacle(join(dataDir, entry.name), entry.isDirectory() ? "directory" : "file");
    if (found !== null && found.kind !== "missing") return found;
  }
  return null;
}

function examineDisk(dataDir: string, databaseBytes: number): Finding {
  const name = "disk";
  const { bavail, bsize, type } = statfsSync(dataDir);
  const freeBytes = bavail * bsize;
  const free = `${Math.round(freeBytes / mebibyte)} MiB are free on the disk of ${dataDir}.`;
  if (process.platform === "linux" && remoteTypes.has(type)) {
    return fail(
      name,
      `${dataDir} is on a network file system, where the locks of a database do not hold.`,
      "Use a local disk.",
    );
  }
  if (freeBytes < scarceBytes) return fail(name, free, "Free some space: on a full disk the server responds with 503.");
  if (freeBytes < scantBytes || freeBytes < 2 * databaseBytes) {
    return warn(name, free, "Free twice the size of the database: a backup and a migration need it.");
  }
  return ok(name, free);
}

function examineDatabase(dataDir: string, storage: StorageEngine): Finding[] {
  const name = "database";
  try {
    const { bytes, schemaVersion, differences } = storage.verify();
    const intact = ok(name, `It is intact: ${Math.ceil(bytes / mebibyte)} MiB, schema ${schemaVersion}.`);
    return [intact, ...judgeSchema(differences)];
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") {
      return [fail(name, `There is no database in ${dataDir}.`, howToBegin)];
    }
    if (error instanceof AppError && error.code === "unavailable") {
      return [fail(name, `It could not be checked: ${error.message}`, "Remove what is in the way, and check again.")];
    }
    if (error instanceof AppError && error.code === "conflict")
      return [fail(name, error.message, "Move it away, or name an empty directory with --data-dir.")];
    const advice = "Stop the server and restore the last backup: companiond restore <file>.";
    return [fail(name, `${describeFailure(error)}.`, advice)];
  }
}

/** Judges by the files alone: it cannot know since when backups are scheduled. */
function examineBackups({ backup: { cron, dir, keep } }: Config): Finding {
  const name = "backups";
  const made = existsSync(dir) ? readdirSync(dir).filter((file) => /^companiond-.*\.db$/.test(file)) : [];
  const newest = made.sort().at(-1);
  if (cron === null) {
    return warn(
      name,
      "No backups are scheduled.",
      'Set COMPANIOND_BACKUP_CRON, such as "0 3 * * *", or back up by other means.',
    );
  }
  if (newest === undefined) {
    return warn(name, `There are no backups in ${dir} yet.`, `Wait for the schedule (${cron}), then check again.`);
  }
  return ok(name, `The newest of ${made.length} (${keep} are kept) is ${join(dir, newest)}.`);
}
