/**
 * Makes the initial migration of each storage engine anew from its schema, and notes what those of PostgreSQL make (see
 * `schema-prints.ts`). Only until the first release: from then on no migration is edited, and `drizzle-kit generate` makes
 * the next one.
 *
 *   bun scripts/initial-migrations.ts
 *
 * What drizzle-kit cannot say stands behind a line of its own in the file, is edited there, and stays: triggers, functions,
 * generated columns, and SQLite's tables without row ids.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import sqliteConfig from "../drizzle.config.ts";
import postgresConfig from "../drizzle.postgres.config.ts";
import { temporaryDirectory } from "../test/support/temporary.ts";

const root = join(import.meta.dir, "..");
const byHand = "--> statement-breakpoint\n-- By hand from here on.\n";

for (const config of [sqliteConfig, postgresConfig]) await renew(config);
await Bun.$`bun scripts/schema-prints.ts`.cwd(root);

async function renew(config: typeof sqliteConfig | typeof postgresConfig): Promise<void> {
  const dir = join(root, config.out ?? "");
  const file = join(dir, "0000_initial.sql");
  const snapshot = join(dir, "meta/0000_snapshot.json");
  const [, kept] = readFileSync(file, "utf8").split(byHand);
  if (kept === undefined) throw new Error(`${file} has no line that says what is written by hand`);
  using directory = temporaryDirectory();
  // Beside the tree: what is there stays until all of it has been made.
  const out = relative(root, directory.file("made"));
  writeFileSync(directory.file("config.json"), JSON.stringify({ ...config, out }));
  await Bun.$`bun x --no-install drizzle-kit generate --name initial --config ${relative(root, directory.file("config.json"))}`
    .cwd(root)
    .quiet();
  // The tables are in whichever schema the connection has.
  const generated = readFileSync(directory.file("made/0000_initial.sql"), "utf8").replaceAll('"public".', "");
  const { id } = JSON.parse(readFileSync(snapshot, "utf8"));
  const made = JSON.parse(readFileSync(directory.file("made/meta/0000_snapshot.json"), "utf8"));
  writeFileSync(file, `${generated.trimEnd()}\n${byHand}${kept}`);
  // The same id again, or two branches that add a column would always be in each other's way.
  writeFileSync(snapshot, `${JSON.stringify({ ...made, id }, null, 2)}\n`);
}
