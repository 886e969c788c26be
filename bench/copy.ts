/**
 * `bun bench/copy.ts [companions]`: how long `companiond copy` takes there and back, with ten messages for each companion
 * and PostgreSQL, as Debian configures it, on the same machine. Writes its data to the system's temporary directory.
 */
import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { join } from "node:path";
import { migrateSqlite } from "../src/engines/sqlite/migrator.ts";
import { readLines } from "../test/support/line-process.ts";
import { queryRows } from "../test/support/postgres-databases.ts";
import { startPostgresServer } from "../test/support/postgres-server.ts";
import { temporaryDirectory } from "../test/support/temporary.ts";

const mebibyte = 1024 * 1024;
const companions = Number(process.argv[2] ?? 1_000_000);
const ownerOf = "((c.number - 1) % 1000 + 1)";
const uuidOf = (number: string, kind: number) =>
  `printf('01900000-0000-7000-8${kind}00-%012x', (${number} * 7919) % 281474976710597)`;
const prompt = "You are a patient guide. Answer in two sentences, and say so when you do not know. ".repeat(4);

/** A thousand accounts; companions with metadata, a token, one conversation and a month of usage. */
async function makeSource(dataDir: string): Promise<void> {
  await migrateSqlite({ dataDir });
  const database = new Database(join(dataDir, "companiond.db"));
  database.run("PRAGMA synchronous = OFF");
  database.run("BEGIN");
  const fill = (table: string, columns: string, values: string, rows: number) =>
    database.run(
      `WITH RECURSIVE c (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM c WHERE number < ${rows})
       INSERT INTO ${table} (${columns}) SELECT ${values} FROM c`,
    );
  fill(
    "accounts",
    "id, email, plan, role, created_at",
    `${uuidOf("c.number", 1)}, 'owner' || c.number || '@shop.example', 'paid', 'owner', 1790000000000`,
    Math.min(1000, companions),
  );
  fill(
    "companions",
    `id, account_id, enabled, name, name_folded, created_at, updated_at, allowed_origins, starters, metadata, system_prompt`,
    `${uuidOf("c.number", 2)}, ${uuidOf(ownerOf, 1)}, 1, 'Companion ' || c.number, 'companion ' || c.number,
     1790000000000 + c.number, 1790000000000 + c.number, '["https://shop.example"]', '["Where is my order?"]',
     '{"customer":"c' || c.number || '","plan":"pro"}', '${prompt}'`,
    companions,
  );
  fill(
    "embed_tokens",
    "token, id, companion_id, created_at",
    `'emb_' || printf('%032x', (c.number * 7919) % 281474976710597), ${uuidOf("c.number", 3)}, ${uuidOf("c.number", 2)}, 1790000000000`,
    companions,
  );
  fill(
    "companion_metadata",
    "account_number, path, value, block, members",
    `${ownerOf}, 'customer', 'c' || c.number, c.number / 4096, randomblob(2)`,
    companions,
  );
  fill(
    "conversations",
    "id, account_id, companion_id, session_id, visitor_id, message_count, created_at, updated_at",
    `${uuidOf("c.number", 4)}, ${uuidOf(ownerOf, 1)}, ${uuidOf("c.number", 2)}, ${uuidOf("c.number", 5)}, '', 10,
     1790000000000 + c.number, 1790000009000 + c.number`,
    companions,
  );
  const question = "Hello! I ordered a pair of shoes last week, and they have not arrived yet. ";
  const answer = "I am sorry to hear that. Orders usually take three to five days. ".repeat(5);
  fill(
    "messages",
    `conversation_number, id, role, channel, complete, input_tokens, output_tokens, tokens_estimated, created_at, text`,
    `(c.number - 1) / 10 + 1, ${uuidOf("c.number", 6)}, CASE c.number % 2 WHEN 1 THEN 'user' ELSE 'assistant' END, 'text', 1,
     CASE c.number % 2 WHEN 0 THEN 120 END, CASE c.number % 2 WHEN 0 THEN 80 END, 0, 1790000000000 + c.number,
     CASE c.number % 2 WHEN 1 THEN '${question}' || c.number ELSE '${answer}' || c.number END`,
    companions * 10,
  );
  fill(
    "usage_daily",
    "account_id, companion_id, day, key_id, messages, requests, input_tokens, output_tokens",
    `${uuidOf(ownerOf, 1)}, ${uuidOf("c.number", 2)}, '2026-11-01', '', 5, 0, 600, 400`,
    companions,
  );
  database.run("COMMIT");
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

async function measure(what: string, from: string, to: string): Promise<void> {
  const startedMs = performance.now();
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "../src/main.ts"), "copy", "--from", from, "--to", to],
    { env: {}, stdin: "ignore", stdout: "inherit", stderr: "pipe" },
  );
  let checkedFromMs = 0;
  for await (const line of readLines(child.stderr)) {
    console.error(line);
    if (checkedFromMs === 0 && line.startsWith("checked")) checkedFromMs = performance.now();
  }
  if ((await child.exited) !== 0) throw new Error(`${what} failed`);
  const seconds = (performance.now() - startedMs) / 1000;
  const usage = child.resourceUsage();
  console.log(
    `\n${what}: ${seconds.toFixed(0)} s, of which checking ${((performance.now() - checkedFromMs) / 1000).toFixed(0)} s`,
  );
  console.log(
    `  ${Math.round(Number(usage?.cpuTime.total) / 1e6)} s of CPU, ${Math.round((usage?.maxRSS ?? 0) / mebibyte)} MiB`,
  );
}

using directory = temporaryDirectory();
const [source, back] = [directory.file("source"), directory.file("back")];
await makeSource(source);
const sizeOf = (dataDir: string) => Math.round(statSync(join(dataDir, "companiond.db")).size / mebibyte);
console.log(`source: ${sizeOf(source)} MiB`);
await using postgres = await startPostgresServer({
  isDurable: true,
  settings: { shared_buffers: "128MB", wal_level: "replica", max_wal_senders: "10" },
});
const { url } = await postgres.createDatabase();
await measure("to PostgreSQL", `sqlite:${source}`, url);
const [size] = await queryRows<{ bytes: number }>(url, "SELECT pg_database_size(current_database())::float8 AS bytes");
console.log(`  PostgreSQL: ${Math.round((size?.bytes ?? 0) / mebibyte)} MiB`);
await measure("back", url, `sqlite:${back}`);
console.log(`  back: ${sizeOf(back)} MiB`);
