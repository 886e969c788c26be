/** `companiond backup`: writes a snapshot of the database, even while a server uses it. */
import { resolve } from "node:path";
import { storageOf } from "../services.ts";
import { singleCommand } from "./command.ts";

export const backupCommand = singleCommand({
  name: "backup",
  about:
    "Write a consistent, verified snapshot of the database to FILE, even while a server uses it. For PostgreSQL use pg_dump.",
  operands: ["FILE"],
  async run({ args, loadConfig }) {
    const file = resolve(args.operand(0));
    const { bytes, schemaVersion } = storageOf(loadConfig()).backup(file);
    return { json: { file, bytes, schema_version: schemaVersion }, text: `Wrote ${file}, ${bytes} bytes.` };
  },
});
