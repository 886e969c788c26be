/** Counters of usage and quota in PostgreSQL: many rows at once, by several transactions at once. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { PostgresEngine } from "../../src/engines/postgres/engine.ts";
import { createEngine } from "../../src/engines/postgres/open.ts";
import { createQuotaCounts } from "../../src/engines/postgres/quota.ts";
import { createUsageWriter } from "../../src/engines/postgres/usage-writer.ts";
import { answeredBy } from "../support/answered.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { createMigratedDatabase } from "../support/postgres-store.ts";

let engine: PostgresEngine;
let database: { url: string; drop(): Promise<void> };
const usage = createUsageWriter();
const quota = createQuotaCounts();

beforeEach(async () => {
  database = await createMigratedDatabase();
  engine = createEngine({ url: database.url, pool: 8, poolHeavy: 2, log: createCapturedLog() });
  const columns =
    "id, account_id, enabled, name, name_folded, created_at, updated_at, allowed_origins, starters, metadata";
  await engine.quickPool.once.run(
    `INSERT INTO companions (${columns})
     SELECT 'c' || at, 'a', true, 'Ada', 'ada', 0, 0, '[]', '[]', '{}' FROM generate_series(0, 9) AS at`,
  );
});
afterEach(async () => {
  await engine.close();
  await database.drop();
});

test("of usage are added by day, by month and for the account, also several at once", async () => {
  const place = { accountId: "a", companionId: "c1", keyId: null, day: "2026-01-15", answeredBy };
  await engine.write((transaction) =>
    usage.add(transaction, [
      { ...place, messages: 1, inputTokens: 5 },
      { ...place, messages: 2, errors: 1 },
      { ...place, day: "2026-01-16", messages: 1 },
      { ...place, companionId: null, keyId: "k", answeredBy: null, requests: 7 },
    ]),
  );
  await engine.write((transaction) => usage.add(transaction, [{ ...place, messages: 1, voiceSessions: 1 }]));
  const rows = (table: string) => engine.quick.all(`SELECT * FROM ${table} ORDER BY 1, 2, 3, 4`);
  const none = {
    messages: "0",
    requests: "0",
    input_tokens: "0",
    output_tokens: "0",
    voice_sessions: "0",
    errors: "0",
    cached_tokens: "0",
    cost_micros: "0",
    cost_picos: "0",
    unpriced: "0",
    reasoning_tokens: "0",
    cache_write_tokens: "0",
    model: "",
    provider: "",
  };
  const plain = { label: "0" };
  const of = { account_id: "a", key_id: "", ...answeredBy };
  const first = { ...none, messages: "4", input_tokens: "5", voice_sessions: "1", errors: "1" };
  const calls = { ...none, account_id: "a", key_id: "k", requests: "7" };
  expect(await rows("usage_daily")).toEqual([
    { ...calls, ...plain, companion_id: "", day: "2026-01-15" },
    { ...plain, ...first, ...of, companion_id: "c1", day: "2026-01-15" },
    { ...plain, ...none, ...of, companion_id: "c1", day: "2026-01-16", messages: "1" },
  ]);
  expect(await rows("usage_monthly")).toEqual([
    { ...calls, ...plain, companion_id: "", month: "2026-01" },
    { ...plain, ...first, ...of, companion_id: "c1", month: "2026-01", messages: "5" },
  ]);
  expect(await rows("usage_account_daily")).toEqual([
    { ...first, ...of, day: "2026-01-15" },
    { ...calls, day: "2026-01-15" },
    { ...none, ...of, day: "2026-01-16", messages: "1" },
  ]);
});

test("are exact and never in each other's way, in whatever order they are counted", async () => {
  const days = ["2026-01-14", "2026-01-15", "2026-01-16"];
  const places = Array.from({ length: 10 }, (_, at) => `c${at}`).flatMap((companionId) =>
    days.map((day) => ({ accountId: "a", companionId, keyId: null, day, answeredBy })),
  );
  let begun = 0;
  await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      engine.write(async (transaction) => {
        begun++;
        const mixed = places.toSorted((one, other) => hash(one, at) - hash(other, at));
        await usage.add(
          transaction,
          mixed.map((place) => ({ ...place, messages: 1 })),
        );
        await quota.add(
          transaction,
          mixed.map((place) => ({ ...place, kind: "messages" })),
        );
      }),
    ),
  );
  // A deadlock would have begun a transaction again.
  expect(begun).toBe(60);
  const counted = await engine.quick.get(
    "SELECT sum(messages)::int AS messages, count(*)::int AS rows FROM usage_account_daily",
  );
  expect(counted).toEqual({ messages: 60 * places.length, rows: days.length });
  for (const { companionId, day } of places) {
    expect(await quota.count(engine.quick, "messages", companionId, day)).toBe(60);
  }
});

test("of quota are kept for three days at least, and not for a deleted companion", async () => {
  const add = (companionId: string, day: string) =>
    engine.write((transaction) => quota.add(transaction, [{ kind: "voice_sessions", companionId, day }]));
  for (const day of ["2026-01-10", "2026-01-11", "2026-01-12", "2026-01-13"]) await add("c1", day);
  await add("gone", "2026-01-13");
  const rows = await engine.quick.all("SELECT companion_id, day, voice_sessions FROM quota_daily ORDER BY day");
  expect(rows).toEqual(
    ["2026-01-11", "2026-01-12", "2026-01-13"].map((day) => ({ companion_id: "c1", day, voice_sessions: "1" })),
  );
});

function hash({ companionId, day }: { companionId: string; day: string }, seed: number): number {
  return Number(Bun.hash.crc32(`${companionId} ${day} ${seed}`));
}

test("are recorded under at most a thousand labels of a companion in a day", async () => {
  await engine.quickPool.once.run(
    `INSERT INTO usage_labels (account_id, companion_id, metadata, day)
     SELECT 'a', 'c1', '{"n":' || at || '}', '2026-01-15' FROM generate_series(1, 999) AS at`,
  );
  const add = async (n: number, day: string) => {
    await engine.quickPool.once.run("UPDATE companions SET metadata = $1 WHERE id = 'c1'", [JSON.stringify({ n })]);
    const place = { accountId: "a", companionId: "c1", keyId: null, answeredBy, messages: 1 };
    // Of both days together: the one that is over does not make room for the other.
    await engine.write((transaction) =>
      usage.add(transaction, [
        { ...place, day: "2026-01-14" },
        { ...place, day },
      ]),
    );
    return await engine.quick.all(
      `SELECT l.metadata, (SELECT count(*)::int FROM usage_labels) AS labels FROM usage_daily u
       JOIN usage_labels l ON l.number = u.label WHERE u.day = $1 ORDER BY u.label DESC LIMIT 1`,
      [day],
    );
  };
  expect(await add(1_000, "2026-01-15")).toEqual([{ metadata: '{"n":1000}', labels: 1_000 }]);
  expect(await add(1_001, "2026-01-16")).toEqual([{ metadata: '{"n":1001}', labels: 1_001 }]);
  await engine.quickPool.once.run("UPDATE usage_labels SET day = '2026-01-16'");
  expect(await add(1_002, "2026-01-16")).toEqual([{ metadata: '{"n":1001}', labels: 1_001 }]);
  expect(await add(1_002, "2026-01-17")).toEqual([{ metadata: '{"n":1002}', labels: 1_002 }]);
});
