/**
 * Writes down what PostgreSQL's migrations make, in `schema-prints.ts` of that engine, by which `doctor` tells a database
 * that was changed by hand or made by a development build. Run it after a migration was generated.
 *
 *   bun scripts/schema-prints.ts
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SchemaPrints } from "../src/engines/store-shared/rows/schema-prints.ts";
import { readMadePrints } from "../test/support/schema-prints.ts";
import { startTestServers } from "../test/support/test-servers.ts";

const root = join(import.meta.dir, "..");
const file = "src/engines/postgres/schema-prints.ts";
await using _ = await startTestServers();

/** See `readWrittenPrints`. */
function writePrints(prints: SchemaPrints): string {
  const lines = new Map<string, string[]>();
  for (const [key, hash] of Object.entries(prints)) {
    const [table = "", name] = key.split(" ");
    if (name === undefined) lines.set(table, [table, hash]);
    else lines.get(table)?.push(name, hash);
  }
  return [...lines.values()].map((words) => words.join(" ")).join("\n");
}

const head = "/** What the migrations make, written by `bun scripts/schema-prints.ts`. */\n";
const prints = writePrints(await readMadePrints());
writeFileSync(join(root, file), `${head}export const schemaPrints = \`\n${prints}\n\`;\n`);
