/**
 * Writes down what the migrations make, in `schema-prints.ts` of each storage engine, by which a server and `doctor` tell
 * a database that was changed by hand or made by a development build. Run it after a migration was generated.
 *
 *   bun scripts/schema-prints.ts
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readMadePrints } from "../test/support/schema-prints.ts";
import { startTestServers } from "../test/support/test-servers.ts";

const root = join(import.meta.dir, "..");
await using _ = await startTestServers();

for (const [engine, made] of Object.entries(await readMadePrints())) {
  const lines = Object.entries(made).map(([name, prints]) => {
    const type = typeof prints === "string" ? "" : ": Readonly<Record<string, string>>";
    return `export const ${name}${type} = ${JSON.stringify(prints)};\n`;
  });
  const head = "/** What the migrations make, written by `bun scripts/schema-prints.ts`. */\n";
  writeFileSync(join(root, "src/store", engine, "schema-prints.ts"), head + lines.join(""));
}
await Bun.$`bun x --no-install biome format --write src/store/sqlite/schema-prints.ts src/store/postgres/schema-prints.ts`.cwd(
  root,
);
