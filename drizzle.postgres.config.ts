/** How `drizzle-kit generate --config drizzle.postgres.config.ts` turns the PostgreSQL schema into migrations. */
import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  schema: "./src/engines/postgres/schema/*.ts",
  out: "./drizzle/postgres",
});
