/**
 * Writes down what PostgreSQL's migrations make, in `schema-prints.ts` of that engine, by which `doctor` tells a database
 * that was changed by hand or made by a development build. Run it after a migration was generated.
 *
 *   bun scripts/schema-prints.ts
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readMadePrints } from "../test/support/schema-prints.ts";
import { startTestServers } from "../test/support/test-servers.ts";

const root = join(import.meta.dir, "..");
const file = "src/engines/postgres/schema-prints.ts";
await using _ = await startTestServers();

const head = "/** What the migrations make, written by `bun scripts/schema-prints.ts`. */\n";
const prints = JSON.stringify(await readMadePrints());
writeFileSync(join(root, file), `${head}export const schemaPrints: Readonly<Record<string, string>> = ${prints};\n`);
await Bun.$`bun x --no-install biome format --write ${file}`.cwd(root);
