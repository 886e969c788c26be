/** Databases of earlier programs: what their rows become. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { createErasureMarks } from "../../src/coordination/erasure-marks.ts";
import { type Plan, scopes } from "../../src/domain/account.ts";
import { textOf } from "../../src/domain/conversation.ts";
import { toVerifiedId } from "../../src/domain/visitor.ts";
import { sha256, sha256Hex } from "../../src/lib/sha256.ts";
import { migrations } from "../../src/store/sqlite/migrations.ts";
import { migrateSqlite } from "../../src/store/sqlite/migrator.ts";
import { restoreSqlite } from "../../src/store/sqlite/restore.ts";
import { testContext } from "../support/app.ts";
import { openStoreAt } from "../support/sqlite-store.ts";
import { openWorld } from "../support/store-world.ts";
import { temporaryDirectory } from "../support/temporary.ts";

/** Two of them, as every schema so far can hold them. */
function insertAccounts(database: Database, plan: Plan): void {
  for (const id of ["ada", "ben"]) {
    database.run("INSERT INTO accounts (id, email, plan, role, created_at) VALUES (?, ?, ?, 'owner', 1)", [
      id,
      `${id}@shop.example`,
      plan,
    ]);
  }
}

test("API keys of schema 2 open the same doors as before, and revoked ones none", async () => {
  using directory = temporaryDirectory();
  const dataDir = directory.path;
  await migrateSqlite({ dataDir, migrations: migrations.slice(0, 2) });
  const database = new Database(directory.file("companiond.db"));
  insertAccounts(database, "paid");
  const insert = database.prepare("INSERT INTO api_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  // Those that there were.
  const known = scopes.filter((scope) => !/^(chat|budgets|knowledge):/.test(scope)).reverse();
  const reversed = JSON.stringify(known);
  insert.run("k1", "ada", "Server", "cmp_live_aaaa", sha256Hex("first"), reversed, 900, 800, 7, 100, null);
  insert.run("k2", "ben", "Job", "cmp_live_bbbb", sha256Hex("second"), "[]", null, null, 0, 200, null);
  insert.run(
    "k3",
    "ada",
    "Old",
    "cmp_live_cccc",
    sha256Hex("third"),
    '["keys:read","moons:read"]',
    null,
    50,
    3,
    20,
    60,
  );
  database.close();

  const store = await openStoreAt(dataDir);
  expect(await store.apiKeys.findByHash(sha256("first"))).toEqual({
    keyId: "k1",
    scopes: known,
    expiresAt: 900,
    account: { id: "ada", plan: "paid" },
    suspendedAt: null,
  });
  expect(await store.apiKeys.findByHash(sha256("second"))).toMatchObject({ keyId: "k2", scopes: [] });
  expect(await store.apiKeys.findByHash(sha256("third"))).toBeNull();
  expect(await store.apiKeys.list("ada")).toEqual([
    {
      id: "k1",
      accountId: "ada",
      name: "Server",
      start: "cmp_live_aaaa",
      lastFour: null,
      scopes: known,
      expiresAt: 900,
      lastUsedAt: 800,
      requests: 7,
      createdByKeyId: null,
      replacedByKeyId: null,
      replacedAt: null,
      createdAt: 100,
    },
  ]);
  await store.close();

  const migrated = new Database(directory.file("companiond.db"), { readonly: true });
  // A scope that nobody knows grants nothing.
  expect(migrated.query("SELECT id, scopes, revoked_at FROM api_keys ORDER BY id").values()).toEqual([
    ["k1", "aKkuVvCc", null],
    ["k2", "", null],
    ["k3", "k", 60],
  ]);
  migrated.close();
});

test("voice agents that companions use before there are grants stay theirs, and nobody else's", async () => {
  using directory = temporaryDirectory();
  const dataDir = directory.path;
  await migrateSqlite({ dataDir, migrations: migrations.slice(0, 3) });
  const database = new Database(directory.file("companiond.db"));
  insertAccounts(database, "free");
  const insert = database.prepare(
    `INSERT INTO companions (id, account_id, name, name_folded, voice_agent_id, enabled, metadata, allowed_origins,
       starters, created_at, updated_at) VALUES (?, ?, 'Ada', 'ada', ?, 1, '{}', '[]', '[]', ?, ?)`,
  );
  insert.run("c1", "ada", "agent-1", 200, 200);
  insert.run("c2", "ada", "agent-1", 100, 300);
  insert.run("c3", "ben", null, 100, 100);
  database.close();

  const store = await openStoreAt(dataDir);
  expect(await store.voiceAgentGrants.list("ada")).toEqual([{ agentId: "agent-1", companions: 2, createdAt: 100 }]);
  expect(await store.voiceAgentGrants.list("ben")).toEqual([]);
  expect(await store.voice.canUseAgent("ada", "agent-1")).toBe(true);
  expect(await store.voice.canUseAgent("ben", "agent-1")).toBe(false);
  await store.close();
});

test("what accounts of schema 5 hold is counted on the way, and goes on being counted", async () => {
  using directory = temporaryDirectory();
  const dataDir = directory.path;
  await migrateSqlite({ dataDir, migrations: migrations.slice(0, 5) });
  const database = new Database(directory.file("companiond.db"));
  insertAccounts(database, "free");
  const insert = database.prepare(
    `INSERT INTO companions (id, account_id, enabled, name, name_folded, greeting, system_prompt, created_at, updated_at,
       allowed_origins, starters, metadata) VALUES (?, ?, 1, 'Ada', 'ada', ?, ?, 1, 1, '[]', '[]', '{}')`,
  );
  insert.run("c1", "ada", "é", "x".repeat(100));
  insert.run("c2", "ada", null, null);
  // Of an account that was deleted, and whose companions are still to follow.
  insert.run("c3", "gone", null, "x");
  const plainBytes = "Ada[][]{}".length;
  database.close();

  const store = await openStoreAt(dataDir);
  expect(await store.accounts.findHeld("ada")).toEqual({ companions: 2, keys: 0, bytes: 2 * plainBytes + 102 });
  expect(await store.accounts.findHeld("ben")).toEqual({ companions: 0, keys: 0, bytes: 0 });
  expect(await store.accounts.findHeld("gone")).toBeNull();
  await store.companions.delete("ada", "c1", testContext());
  expect(await store.accounts.findHeld("ada")).toEqual({ companions: 1, keys: 0, bytes: plainBytes });
  await store.close();
});

test("conversations and companions of schema 6, out of a backup, are served and go on, with names and visitors from now on", async () => {
  using old = temporaryDirectory();
  await migrateSqlite({ dataDir: old.path, migrations: migrations.slice(0, 6) });
  const database = new Database(old.file("companiond.db"));
  insertAccounts(database, "free");
  database.run(
    `INSERT INTO companions (id, account_id, enabled, name, name_folded, created_at, updated_at, allowed_origins, starters,
       metadata) VALUES ('c1', 'ada', 1, 'Ada', 'ada', 1, 1, '[]', '[]', '{}')`,
  );
  const insert = database.prepare(
    `INSERT INTO messages (conversation_number, id, role, channel, complete, tokens_estimated, created_at, text)
     VALUES (?, ?, ?, 'text', 1, 0, ?, ?)`,
  );
  for (const number of [1, 2]) {
    database.run(
      `INSERT INTO conversations (number, id, account_id, companion_id, session_id, visitor_id, message_count, created_at,
         updated_at) VALUES (?, ?, 'ada', 'c1', 's1', ?, 2, 10, 20)`,
      [number, `v${number}`, `visitor-${number}`],
    );
    insert.run(number, `q${number}`, "user", 10, `asked by ${number}`);
    insert.run(number, `a${number}`, "assistant", 20, `answered to ${number}`);
  }
  // Erased before, in place.
  insert.run(-3, "gone", "user", 5, "0000");
  database.run("INSERT INTO erased_ranges (first, last, bytes) VALUES (5, 5, 104)");
  database.run(
    `INSERT INTO voice_sessions (provider_conversation_id, account_id, companion_id, session_id, visitor_id, created_at)
     VALUES ('conv-1', 'ada', 'c1', 's1', 'visitor-1', 30)`,
  );
  database.close();

  using restored = temporaryDirectory();
  restoreSqlite(restored.path, old.file("companiond.db"), 0);
  const world = await openWorld(async () => {
    const arrivals = createErasureMarks();
    const store = await openStoreAt(restored.path, { erasures: arrivals });
    return { store, arrivals, close: () => store.close() };
  });
  const { companions, conversations, turns, visitorKeys, voice } = world.store;
  const companion = (await companions.find("ada", "c1")) ?? expect.unreachable();
  expect(companion).toMatchObject({ visitorAuth: "off", dailyPerVisitor: null });
  expect(await world.store.accounts.findHeld("ada")).toMatchObject({ companions: 1, bytes: "Ada[][]{}".length });
  const key = { companionId: "c1", sessionId: "s1", visitorId: "visitor-1" };
  const found = await conversations.find("ada", "v1");
  expect(found?.conversation).toMatchObject({ ...key, sealedVisitor: null, messageCount: 2 });
  expect(found?.messages.map(({ id }) => id)).toEqual(["q1", "a1"]);

  const spoken = { id: "t1", role: "user", text: "spoken", complete: true, createdAt: 40 } as const;
  expect((await voice.addTranscript("conv-1", "unused", [spoken], null)).isAdded).toBe(true);
  await turns.settle(
    world.turnOf(companion, { key, messageId: "m1", said: "named", answered: null, endCode: "abandoned" }),
  );
  expect(await turns.findExchange(key, "m1")).toMatchObject({ question: "named", endCode: "abandoned" });
  const verified = { id: toVerifiedId("digest"), sealed: "sealed" };
  expect(await conversations.merge(key, verified)).toBe(true);
  const texts = (await turns.listHistory({ ...key, visitorId: verified.id }, 1000)).map(textOf);
  expect(texts).toEqual(["named", "spoken", "answered to 1", "asked by 1"]);
  expect(await visitorKeys.list("ada")).toEqual([]);
  await companions.update("ada", "c1", { visitorAuth: "required", dailyPerVisitor: 5 }, testContext());
  expect(await companions.find("ada", "c1")).toMatchObject({ visitorAuth: "required", dailyPerVisitor: 5 });
  expect(await world.store.accounts.findHeld("ada")).toMatchObject({ companions: 1, bytes: "Ada[][]{}".length });
  await conversations.eraseVisitors("ada", "c1", ["visitor-2", verified.id], world.context());
  const query = { companionId: "c1", visitorId: null, fromMs: null, toMs: null, q: null };
  expect((await conversations.list("ada", query, { limit: 5, afterId: null })).items).toEqual([]);
  await world.close();
});

test("usage of schema 7 keeps its sums, and what companions are called now is what they were recorded under", async () => {
  using directory = temporaryDirectory();
  const dataDir = directory.path;
  await migrateSqlite({ dataDir, migrations: migrations.slice(0, 7) });
  const database = new Database(directory.file("companiond.db"));
  insertAccounts(database, "paid");
  const insertCompanion = database.prepare(
    `INSERT INTO companions (id, account_id, enabled, name, name_folded, created_at, updated_at, allowed_origins, starters,
       metadata) VALUES (?, 'ada', 1, 'Ada', 'ada', 1, 1, '[]', '[]', ?)`,
  );
  insertCompanion.run("c1", '{"plan":"pro"}');
  insertCompanion.run("c2", "{}");
  // Without usage: no label, and its number is nobody else's.
  insertCompanion.run("c3", '{"plan":"pro"}');
  for (const [companion, day, key, messages, requests] of [
    ["c1", "2026-01-15", "", 3, 0],
    ["c1", "2026-02-01", "k1", 4, 0],
    ["c2", "2026-01-15", "", 5, 0],
    ["gone", "2026-01-16", "", 6, 0],
    ["", "2026-01-16", "k1", 0, 7],
  ] as const) {
    const counts = [messages, requests, messages * 10];
    const columns = "messages, requests, input_tokens) VALUES (?, ?, ?, ?, ?, ?";
    const month = day.slice(0, 7);
    database.run(`INSERT INTO usage_daily (account_id, companion_id, day, key_id, ${columns}, ?)`, [
      ...["ada", companion, day, key],
      ...counts,
    ]);
    database.run(`INSERT INTO usage_monthly (account_id, companion_id, month, key_id, ${columns}, ?)`, [
      ...["ada", companion, month, key],
      ...counts,
    ]);
    database.run(
      `INSERT INTO usage_account_daily (account_id, day, key_id, ${columns})
       ON CONFLICT DO UPDATE SET messages = messages + excluded.messages, requests = requests + excluded.requests,
         input_tokens = input_tokens + excluded.input_tokens`,
      ["ada", day, key, ...counts],
    );
  }
  database.close();

  const store = await openStoreAt(dataDir);
  const all = { fromDay: "2026-01-01", toDay: "2026-02-28", groupBy: [], companionId: null, metadata: [] };
  const pro = { metadata: [{ path: "plan", value: "pro" }] };
  const { usage } = store;
  expect(await usage.query("ada", all)).toMatchObject([{ messages: 18, requests: 7, inputTokens: 180, unpriced: 18 }]);
  expect(await usage.query("ada", { ...all, groupBy: ["companion"] })).toMatchObject([
    { companionId: null, messages: 0, requests: 7, unpriced: 0 },
    { companionId: "c1", messages: 7 },
    { companionId: "c2", messages: 5 },
    { companionId: "gone", messages: 6 },
  ]);
  expect(await usage.query("ada", { ...all, ...pro, fromDay: "2026-01-15" })).toMatchObject([{ messages: 7 }]);
  await store.companions.update("ada", "c1", { metadata: { plan: "free" } }, testContext());
  await store.companions.delete("ada", "c3", testContext());
  expect(await usage.query("ada", { ...all, ...pro })).toMatchObject([{ messages: 7 }]);
  expect(await usage.query("ada", { ...all, groupBy: ["model", "metadata.plan"] })).toMatchObject([
    { model: null, metadata: { "metadata.plan": null }, messages: 11 },
    { model: null, metadata: { "metadata.plan": "pro" }, messages: 7 },
  ]);
  await store.close();
});
