/** `companiond migrate`: migrates the database to this version; `serve` does so automatically. */
import { singleCommand } from "./command.ts";
import { nameDatabase } from "./database-name.ts";

export const migrateCommand = singleCommand({
  name: "migrate",
  about:
    "Apply pending migrations; serve also does this. Refused while a server of an earlier version runs on the data directory; " +
    "on PostgreSQL, such servers go on.",
  data: "writes",
  async run({ openStore, loadConfig }) {
    const store = await openStore({ isMigration: true });
    await store.check();
    const { dataDir, database } = loadConfig();
    const text = `The database ${nameDatabase({ dataDir, database })} is up to date.`;
    return { json: { status: "up_to_date", data_dir: database === null ? dataDir : null }, text };
  },
});
