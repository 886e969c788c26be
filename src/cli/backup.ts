/** `companiond backup`: writes a snapshot of the database, even while a server uses it. */
import { resolve } from "node:path";
import { storageOf } from "../services.ts";
import { singleCommand } from "./command.ts";

export const backupCommand = singleCommand({
  name: "backup",
  about:
    "Write a consistent, verified snapshot of the database to FILE, even while a server uses it. For PostgreSQL use pg_dump.",
  data: "reads",
  opensAsCaller: true,
  operands: ["FILE"],
  async run({ args, loadConfig, io: { user } }) {
    const file = resolve(args.operand(0));
    const storage = storageOf(loadConfig());
    const { bytes, schemaVersion } = storage.backup(file, (work) => user.forFile(file, work));
    return { json: { file, bytes, schema_version: schemaVersion }, text: `Wrote ${file}, ${bytes} bytes.` };
  },
});
