/** Usage in SQLite: what is bounded, and what gives way to others. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { openTemporaryStore } from "../support/sqlite-store.ts";
import { openWorld, type StoreWorld } from "../support/store-world.ts";
import { countTurns } from "../support/turns-of-the-loop.ts";

let world: StoreWorld;
let account: Account;
let companion: Companion;
let database: Database;

beforeEach(async () => {
  let dataDir = "";
  world = await openWorld(async () => {
    const opened = await openTemporaryStore();
    dataDir = opened.dataDir;
    return opened;
  });
  database = new Database(join(dataDir, "companiond.db"));
  account = await world.createAccount();
  companion = await world.createCompanion(account, { metadata: { n: 0 } });
});
afterEach(async () => {
  database.close();
  await world.close();
});

/** Recorded for the day, each with a message. */
function recordLabels(day: string, count: number): void {
  database.run(
    `WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < ?4)
     INSERT INTO usage_labels (account_id, companion_id, metadata, day) SELECT ?1, ?2, '{"n":' || at || '}', ?3 FROM n`,
    [account.id, companion.id, day, count],
  );
  database.run(
    `INSERT INTO usage_daily (account_id, companion_id, day, key_id, messages, label)
     SELECT account_id, companion_id, day, '', 1, number FROM usage_labels WHERE day = ?`,
    [day],
  );
  database.run("INSERT INTO usage_account_daily (account_id, day, key_id, messages) VALUES (?, ?, '', ?)", [
    account.id,
    day,
    count,
  ]);
}

const february = { fromDay: "2026-02-01", toDay: "2026-02-20", companionId: null, metadata: [] };

test("gives way while sums are read, and after every few labels", async () => {
  // More rows on one day than a slice has, and few on the next: which all belong to one companion.
  recordLabels("2026-02-01", 2_500);
  recordLabels("2026-02-02", 500);
  const { usage } = world.store;
  const days = await usage.query(account.id, { ...february, companionId: companion.id, groupBy: ["day"] });
  expect(days.map(({ day, messages }) => [day, messages])).toEqual([
    ["2026-02-01", 2_500],
    ["2026-02-02", 500],
  ]);
  const grouped = await countTurns(async () => {
    const rows = await usage.query(account.id, { ...february, groupBy: ["metadata.n"] });
    expect(rows).toHaveLength(2_500);
    expect(rows.filter(({ messages }) => messages === 2)).toHaveLength(500);
  });
  expect(grouped).toBeGreaterThan(3_000 / 16);
  const exported = await countTurns(async () => {
    const { events } = await usage.listEvents(account.id, { ...february, after: null });
    expect(events).toHaveLength(2_500);
  });
  expect(exported).toBeGreaterThan(2_500 / 16);
});

test("is recorded under at most a thousand labels of a companion in a day", async () => {
  const day = "2026-02-01";
  recordLabels(day, 999);
  const settle = async (n: number, onDay: string) => {
    await world.store.companions.update(account.id, companion.id, { metadata: { n } }, world.context());
    await world.store.turns.settle(world.turnOf(companion, { day: onDay }));
    const days = { fromDay: onDay, toDay: onDay, companionId: null, metadata: [] };
    const rows = await world.store.usage.query(account.id, { ...days, groupBy: ["metadata.n"] });
    return Object.fromEntries(rows.map(({ metadata, messages }) => [metadata?.["metadata.n"], messages]));
  };
  expect(await settle(1_000, day)).toMatchObject({ 999: 1, 1000: 1 });
  const full = await settle(1_001, day);
  expect(full).toMatchObject({ 1000: 2 });
  expect(full).not.toHaveProperty("1001");
  expect(await settle(1_001, "2026-02-02")).toEqual({ 1001: 1 });
});
