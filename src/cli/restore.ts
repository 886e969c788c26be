/** `companiond restore`: replaces the database with a backup. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { storageOf } from "../app/services.ts";
import type { Config } from "../config/config.ts";
import type { AsCaller, Restored } from "../contracts/store/engine.ts";
import { AppError } from "../domain/errors.ts";
import { renameIn } from "./backups.ts";
import { type ActionInput, file, Misuse, singleCommand } from "./command.ts";
import { identityOption, storageMark, withFetched } from "./stored-backup.ts";

export const restoreCommand = singleCommand({
  name: "restore",
  about:
    "Verify a backup, in a file or in the storage of backups, and replace the database with it; the old one is kept aside. " +
    "Refused while the database is in use. For PostgreSQL use pg_restore.",
  data: "makes",
  opensAsCaller: true,
  operands: [{ value: { ...file, shown: `${file.shown}|${storageMark}<name>`, choices: [storageMark] } }],
  options: identityOption,
  async run(input) {
    const { args, io } = input;
    const named = args.operand(0);
    if (named === storageMark) throw new Misuse("s3: needs the name of a backup, as companiond backups list shows it.");
    const isStored = named.startsWith(storageMark);
    if (!isStored && args.has("age-identity")) {
      throw new Misuse("--age-identity is for backups of the storage (s3:NAME).");
    }
    const file = resolve(named);
    const asCaller: AsCaller = (work) => io.user.forFile(file, work);
    const { path, bytes, schemaVersion, keptAs } = isStored
      ? await restoreStored(input, named.slice(storageMark.length))
      : storageOf(input.loadConfig()).restore(file, input.clock.nowMs(), asCaller);
    const kept = keptAs === null ? "" : `\nThe old database is kept as ${keptAs}.`;
    return {
      json: { database: path, bytes, schema_version: schemaVersion, kept_as: keptAs },
      text: `Restored ${path} from ${isStored ? named : file}, ${bytes} bytes.${kept}${isStored ? remind(input.loadConfig()) : ""}`,
    };
  },
});

/** A backup from elsewhere comes without the key, and so does a machine that begins with it. */
function remind({ dataDir, secretKey }: Config): string {
  if (secretKey !== null || existsSync(join(dataDir, "secret.key"))) return "";
  return "\nThe key of sealed secrets is in no backup: put secret.key beside the database, or set COMPANIOND_SECRET_KEY.";
}

async function restoreStored(input: ActionInput, name: string): Promise<Restored> {
  const config = input.loadConfig();
  const storage = storageOf(config);
  // Refuses it, and names the tool.
  if (config.database !== null) return storage.restore(name, input.clock.nowMs());
  // While the database is served, fetching would be for nothing.
  storage.lock().release();
  return await withFetched(input, name, ({ file }) => {
    try {
      return storage.restore(file, input.clock.nowMs());
    } catch (error) {
      throw error instanceof AppError ? renameIn(error, file, name) : error;
    }
  });
}
