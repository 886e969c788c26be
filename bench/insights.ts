/**
 * How long figures about a million conversations take, and how long others wait meanwhile: `bun bench/insights.ts`, and with
 * `COMPANIOND_TEST_ENGINE=postgres` on a PostgreSQL of its own.
 */
import { parseArgs } from "node:util";
import { readInsights } from "../src/api/insights/service.ts";
import { startTestServer } from "../test/support/app.ts";
import { startPostgresServer } from "../test/support/postgres-server.ts";

const { values } = parseArgs({ options: { conversations: { type: "string", default: "1000000" } } });
const total = Number(values.conversations);
const days = 90;
const nowMs = Date.now();
const dayMs = 86_400_000;

const isPostgres = process.env["COMPANIOND_TEST_ENGINE"] === "postgres";
await using postgres = isPostgres ? await startPostgresServer() : null;
if (postgres !== null) process.env["COMPANIOND_TEST_POSTGRES"] = postgres.serverUrl;
const server = await startTestServer();
const { store } = server.services;
const account = await server.createAccount();
const companion = await server.createCompanion({}, account);

/** A tenth was taken by people, a fifth was rated, a tenth resolved. */
const fill = {
  conversations: `INSERT INTO conversations
      (id, account_id, companion_id, session_id, visitor_id, message_count, created_at, updated_at)
    SELECT 'c' || n, '${account.id}', '${companion.id}', 's' || n, '', 2, T, T FROM series`,
  handoffs: `INSERT INTO handoffs (conversation_number, account_id, companion_id, state, tags, change, is_resolved,
      resolved_seq, resolved_at_ms)
    SELECT number, account_id, companion_id, 'companion', '[]', number, TRUE, 2, created_at FROM conversations
    WHERE number % 10 = 0`,
  events: `INSERT INTO handoff_events (id, conversation_number, account_id, companion_id, type, by, at_ms)
    SELECT 'e' || number || k, number, account_id, companion_id, CASE k WHEN 1 THEN 'asked' ELSE 'taken' END,
      '{"type":"visitor"}', created_at FROM conversations, (SELECT 1 AS k UNION ALL SELECT 2) AS kinds
    WHERE number % 10 = 0`,
  spans: `INSERT INTO handoff_spans (conversation_number, account_id, companion_id, kind, at_ms, duration_ms)
    SELECT number, account_id, companion_id, CASE k WHEN 1 THEN 'answer' ELSE 'person' END, created_at,
      1000 * (number % 600) FROM conversations, (SELECT 1 AS k UNION ALL SELECT 2) AS kinds WHERE number % 10 = 0`,
  ratings: `INSERT INTO ratings (conversation_number, client_id, account_id, companion_id, rating, reasons, created_at)
    SELECT number, 'm', account_id, companion_id, CASE WHEN number % 2 = 0 THEN 'up' ELSE 'down' END, '[]', created_at
    FROM conversations WHERE number % 5 = 0`,
};
const stepMs = Math.floor((days * dayMs) / total);
const time = `${nowMs - days * dayMs} + n * ${stepMs}`;

if (isPostgres) {
  const { engineEnvironment } = await import("../test/support/engine.ts");
  const sql = new Bun.SQL((await engineEnvironment(server.dataDir))["DATABASE_URL"] ?? "");
  for (const text of Object.values(fill)) {
    const series = `(SELECT generate_series(0, ${total - 1})::bigint AS n) AS series`;
    await sql.unsafe(text.replace("FROM series", `FROM ${series}`).replaceAll(/\bT\b/g, `(${time})`));
  }
  await sql.unsafe("VACUUM ANALYZE");
  await sql.close();
} else {
  const { Database } = await import("bun:sqlite");
  const database = new Database(`${server.dataDir}/companiond.db`);
  for (const text of Object.values(fill)) {
    const series = `WITH RECURSIVE series(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series WHERE n < ${total - 1}) `;
    database.run(`${text.includes("FROM series") ? series : ""}${text.replaceAll(/\bT\b/g, `(${time})`)}`);
  }
  // Else the server's next checkpoint, of all that was just written, would be measured with it.
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

// What the database does once after so many rows were written is no part of it.
await store.insights.count(account.id, { fromMs: 0, toMs: 1, companionIds: null }, nowMs);
const day = (atMs: number) => new Date(atMs).toISOString().slice(0, 10);
const principal = { account, keyId: null, member: null } as never;
for (const [name, companionId] of [
  ["account", null],
  ["account again", null],
  ["companion", companion.id],
] as const) {
  let last = performance.now();
  let longest = 0;
  const watch = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - 1);
    last = now;
  }, 1);
  const began = performance.now();
  const request = { fromDay: day(nowMs - 91 * dayMs), toDay: day(nowMs), timezone: "Europe/Berlin" };
  const found = await readInsights({ store, clock: server.services.clock }, principal, {
    ...request,
    companionId,
    metadata: [],
  });
  const tookMs = Math.round(performance.now() - began);
  await Bun.sleep(5);
  clearInterval(watch);
  const { conversations, up, resolved, asked, first_answer_seconds: answers } = found;
  process.stdout.write(
    `${name}: ${tookMs} ms, longest wait ${Math.round(longest)} ms; ${JSON.stringify({ conversations, up, resolved, asked, answers })}\n`,
  );
}
await server.close();
