/** `companiond restore`: puts a backup in the place of the database. */
import { resolve } from "node:path";
import { storageOf } from "../services.ts";
import type { Command } from "./command.ts";

export const restoreCommand: Command = {
  name: "restore",
  about: "Put a backup in the place of the database; the server must be stopped.",
  actions: [
    {
      name: "",
      about: "Verify FILE and put it in the place of the database, which is kept aside. Refuses while it is in use.",
      operands: ["FILE"],
      async run({ args, loadConfig, clock }) {
        const file = resolve(args.operand(0));
        const { path, bytes, schemaVersion, keptAs } = storageOf(loadConfig()).restore(file, clock.nowMs());
        const kept = keptAs === null ? "" : `\nThe database that was there is kept as ${keptAs}.`;
        return {
          json: { database: path, bytes, schema_version: schemaVersion, kept_as: keptAs },
          text: `Restored ${path} from ${file}, ${bytes} bytes.${kept}`,
        };
      },
    },
  ],
};
