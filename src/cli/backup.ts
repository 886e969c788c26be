/** `companiond backup`: writes a snapshot of the database, even while a server uses it. */
import { resolve } from "node:path";
import { storageOf } from "../services.ts";
import { type ActionInput, type ActionResult, Misuse, singleCommand } from "./command.ts";
import { storageMark, uploadNow } from "./stored-backup.ts";

export const backupCommand = singleCommand({
  name: "backup",
  about:
    "Write a consistent, verified snapshot of the database to FILE, even while a server uses it; or, with s3: for FILE, " +
    "upload one to the storage of backups. For PostgreSQL use pg_dump.",
  data: "reads",
  opensAsCaller: true,
  operands: ["FILE|s3:"],
  async run(input) {
    const { args, loadConfig } = input;
    const named = args.operand(0);
    if (named === storageMark) return await upload(input);
    if (named.startsWith(storageMark)) {
      throw new Misuse("backups in the storage are named after their time: companiond backup s3: without a name.");
    }
    const file = resolve(named);
    const storage = storageOf(loadConfig());
    const { bytes, schemaVersion } = storage.backup(file, (work) => input.io.user.forFile(file, work));
    return { json: { file, bytes, schema_version: schemaVersion }, text: `Wrote ${file}, ${bytes} bytes.` };
  },
});

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
