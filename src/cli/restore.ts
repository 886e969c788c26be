/** `companiond restore`: replaces the database with a backup. */
import { resolve } from "node:path";
import { storageOf } from "../services.ts";
import { singleCommand } from "./command.ts";

export const restoreCommand = singleCommand({
  name: "restore",
  about:
    "Verify FILE and replace the database with it; the old one is kept aside. Refused while the database is in use. " +
    "For PostgreSQL use pg_restore.",
  data: "makes",
  opensAsCaller: true,
  operands: ["FILE"],
  async run({ args, loadConfig, clock, io: { user } }) {
    const file = resolve(args.operand(0));
    const storage = storageOf(loadConfig());
    const restored = storage.restore(file, clock.nowMs(), (work) => user.forFile(file, work));
    const { path, bytes, schemaVersion, keptAs } = restored;
    const kept = keptAs === null ? "" : `\nThe old database is kept as ${keptAs}.`;
    return {
      json: { database: path, bytes, schema_version: schemaVersion, kept_as: keptAs },
      text: `Restored ${path} from ${file}, ${bytes} bytes.${kept}`,
    };
  },
});
