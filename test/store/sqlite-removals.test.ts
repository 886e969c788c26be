/** What a deletion leaves is removed behind everything else, also by a later process. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { toVerifiedId } from "../../src/domain/visitor.ts";
import { createErasureMarks } from "../../src/engines/memory/coordination/erasure-marks.ts";
import { openConnection } from "../../src/engines/sqlite/connection.ts";
import { SqliteEngine } from "../../src/engines/sqlite/engine.ts";
import { createCallEraser, createMessageEraser } from "../../src/engines/sqlite/erasers.ts";
import { createKnowledgeRemover } from "../../src/engines/sqlite/knowledge-removal.ts";
import { createVisitorDays } from "../../src/engines/sqlite/quota.ts";
import { createRemovals } from "../../src/engines/sqlite/removals.ts";
import { createSqliteScripts } from "../../src/engines/sqlite/scripts.ts";
import { createCallRemovals } from "../../src/engines/store-shared/scripts/tool-calls.ts";
import { versionRemovals } from "../../src/engines/store-shared/scripts/version-room.ts";
import { voiceAgents } from "../../src/engines/store-shared/scripts/voice-agents.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { eventually } from "../support/eventually.ts";
import { openStoreAt } from "../support/sqlite-store.ts";
import { provideSqlite } from "../support/sqlite-template.ts";
import { openWorld } from "../support/store-world.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

function count(directory: TemporaryDirectory, from: string): number {
  using database = new Database(directory.file("companiond.db"), { readonly: true });
  return database.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${from}`).get()?.count ?? -1;
}

async function openAt(directory: TemporaryDirectory) {
  const commits: number[] = [];
  const observer = { onCommit: (writes: number) => void commits.push(writes) };
  // A server: a command would not end before all is gone.
  const store = await openStoreAt(directory.path, { observer, settlesLeftAtMs: 0 });
  const world = await openWorld(async () => ({ store, arrivals: createErasureMarks(), close: () => store.close() }));
  return { world, commits };
}

test("goes on after a restart until nothing is left, in commits of bounded size", async () => {
  using directory = temporaryDirectory();
  const first = await openAt(directory);
  const account = await first.world.createAccount();
  const companion = await first.world.createCompanion(account, { metadata: { plan: "pro" } });
  const change = (name: string) =>
    first.world.store.companions.update(account.id, companion.id, { name, systemPrompt: name }, first.world.context());
  await Promise.all(Array.from({ length: 120 }, (_, at) => change(`${at}`)));
  const { key } = first.world.turnOf(companion);
  const turns = Array.from({ length: 1000 }, (_, at) => {
    const visitor = { sealed: "s", isLimited: true };
    const own = { key: { ...key, visitorId: toVerifiedId(`digest-${at}`) }, visitor };
    return { ...first.world.turnOf(companion), key, ...(at < 250 ? own : {}) };
  });
  await Promise.all(turns.map((turn) => first.world.store.turns.settle(turn)));
  await first.world.store.accounts.delete(account.id, first.world.context());
  await first.world.close();
  expect(count(directory, "messages WHERE conversation_number > 0")).toBeGreaterThan(0);

  const second = await openAt(directory);
  await eventually(() => count(directory, "removals") === 0);
  expect(second.commits.length).toBeGreaterThan(2);
  for (const left of [
    "companions",
    "conversations",
    "embed_tokens",
    "companion_metadata",
    "quota_daily",
    "visitor_daily",
    "companion_versions",
    "companion_texts",
  ]) {
    expect(count(directory, left)).toBe(0);
  }
  expect(count(directory, "messages WHERE conversation_number > 0")).toBe(0);
  expect(count(directory, "usage_daily")).toBe(1);
  await second.world.close();
});

async function openRemovals(directory: TemporaryDirectory) {
  await provideSqlite(directory.path);
  const database = await openConnection(directory.path);
  const engine = new SqliteEngine(database);
  const scripts = createSqliteScripts(engine);
  const removals = createRemovals(engine, {
    eraser: createMessageEraser(engine),
    calls: scripts.bind(createCallRemovals(createCallEraser(engine))),
    knowledge: createKnowledgeRemover(engine),
    versions: scripts.bind(versionRemovals),
    visitorDays: createVisitorDays(engine),
    voiceAgents: scripts.bind(voiceAgents),
    log: createCapturedLog(),
  });
  return { engine, removals };
}

test("empties the log behind a deletion whose messages an erasure has taken along already", async () => {
  using directory = temporaryDirectory();
  const { engine, removals } = await openRemovals(directory);
  let emptied = 0;
  engine.emptyLog = async () => void emptied++;
  removals.start();
  await eventually(() => emptied === 1);
  removals.start();
  await eventually(() => emptied > 1, { what: "the log to be emptied again" });
  await removals.stop();
  expect(emptied).toBe(2);
  await engine.close();
});

test("empties the log once more if it was emptied while the last chunk waited for its commit", async () => {
  using directory = temporaryDirectory();
  const { engine, removals } = await openRemovals(directory);
  let emptied = 0;
  engine.emptyLog = async () => void emptied++;
  const write = engine.write.bind(engine);
  removals.start();
  await write(() => removals.add("upload", "none", 0, 1));
  engine.write = async (work) => {
    await eventually(() => emptied === 1);
    return await write(work);
  };
  removals.start();
  await eventually(() => emptied > 1, { what: "the log to be emptied again" });
  await removals.stop();
  expect(emptied).toBe(2);
  await engine.close();
});
