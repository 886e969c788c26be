/** How `bunx drizzle-kit generate` turns the SQLite schema into migrations. */
import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  // Not the tables WITHOUT ROWID, which only hand-written migrations (`--custom`) can say.
  schema: "./src/engines/sqlite/schema/*.ts",
  out: "./drizzle/sqlite",
});
