/** How `bunx drizzle-kit generate` turns the SQLite schema into migrations. */
import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  // Not `clustered.ts`: its tables are WITHOUT ROWID, which only hand-written migrations (`--custom`) can say.
  schema: [
    "./src/store/sqlite/schema/accounts.ts",
    "./src/store/sqlite/schema/companions.ts",
    "./src/store/sqlite/schema/conversations.ts",
    "./src/store/sqlite/schema/knowledge.ts",
    "./src/store/sqlite/schema/spending.ts",
  ],
  out: "./drizzle/sqlite",
});
