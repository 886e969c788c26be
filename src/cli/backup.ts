/** `companiond backup`: writes a snapshot of the database, even while a server uses it. */
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { storageOf } from "../app/services.ts";
import { codeOf } from "../lib/error-code.ts";
import { type ActionInput, type ActionResult, CommandFailure, file, Misuse, singleCommand } from "./command.ts";
import { storageMark, uploadNow } from "./stored-backup.ts";

export const backupCommand = singleCommand({
  name: "backup",
  about:
    "Write a consistent, verified snapshot of the database to a file, even while a server uses it; or, with s3: instead of a path, " +
    "upload one to the storage of backups. For PostgreSQL use pg_dump.",
  data: "reads",
  opensAsCaller: true,
  operands: [{ value: { ...file, shown: `${file.shown}|${storageMark}`, choices: [storageMark] } }],
  async run(input) {
    const { args, loadConfig } = input;
    const named = args.operand(0);
    if (named === storageMark) return await upload(input);
    if (named.startsWith(storageMark)) {
      throw new Misuse("backups in the storage are named after their time: companiond backup s3: without a name.");
    }
    const file = resolve(named);
    const config = loadConfig();
    const forFile = <T>(work: () => T) => input.io.user.forFile(file, work);
    const folder = dirname(file);
    // That of the scheduled backups is made with the first of them.
    if (folder !== resolve(config.backup.dir) && forFile(() => isMissing(folder))) {
      throw new CommandFailure(
        `there is no folder ${folder}: nothing was written. Make it, or name a file in another one.`,
      );
    }
    const { bytes, schemaVersion } = storageOf(config).backup(file, forFile);
    return { json: { file, bytes, schema_version: schemaVersion }, text: `Wrote ${file}, ${bytes} bytes.` };
  },
});

/** Missing permissions are for the backup itself to report. */
function isMissing(folder: string): boolean {
  try {
    return !statSync(folder).isDirectory();
  } catch (error) {
    return codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";
  }
}

async function upload(input: ActionInput): Promise<ActionResult> {
  const { name, bytes, sha256, removed, rotationProblem } = await uploadNow(input);
  if (rotationProblem !== null) {
    await input.io.writeError(`companiond: older backups could not be removed there: ${rotationProblem}\n`);
  }
  const gone = removed.length === 0 ? "" : `\nRemoved there: ${removed.join(", ")}.`;
  return {
    json: { name, bytes, sha256, removed, where: "s3" },
    text: `Uploaded ${name}, ${bytes} bytes, and read it back.${gone}`,
  };
}
