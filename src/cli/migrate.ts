/** `companiond migrate`: migrates the database to this version; `serve` does so by itself. */
import { singleCommand } from "./command.ts";

export const migrateCommand = singleCommand({
  name: "migrate",
  about: "Apply pending migrations; serve also does this. Refused while a server of an earlier version runs.",
  async run({ openStore, loadConfig }) {
    const store = await openStore();
    await store.check();
    const { dataDir } = loadConfig();
    return { json: { status: "up_to_date", data_dir: dataDir }, text: `The database in ${dataDir} is up to date.` };
  },
});
