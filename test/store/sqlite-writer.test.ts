/** The queue of writes of SQLite: what shares a commit, what fails alone, and what a full disk does. */
import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openConnection } from "../../src/engines/sqlite/connection.ts";
import type { StoreDatabase } from "../../src/engines/sqlite/database.ts";
import { SqliteEngine } from "../../src/engines/sqlite/engine.ts";
import { sha256 } from "../../src/lib/sha256.ts";
import { openTemporaryStore } from "../support/sqlite-store.ts";
import { openWorld } from "../support/store-world.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

describe("the queue of writes", () => {
  let directory: TemporaryDirectory;
  let database: StoreDatabase;
  let engine: SqliteEngine;
  let commits: number[];
  beforeEach(async () => {
    directory = temporaryDirectory();
    database = await openConnection(directory.path);
    database.run("CREATE TABLE pets (name TEXT UNIQUE, photo TEXT)");
    commits = [];
    engine = new SqliteEngine(database, { observer: { onCommit: (writes) => commits.push(writes) } });
  });
  afterEach(async () => {
    await engine.close();
    directory[Symbol.dispose]();
  });

  const add = (name: string, photo = "") =>
    engine.write(() => engine.query<null, [string, string]>("INSERT INTO pets VALUES (?, ?)").run(name, photo));
  const names = () =>
    engine.read(() =>
      engine
        .query<{ name: string }>("SELECT name FROM pets ORDER BY rowid")
        .all()
        .map((row) => row.name),
    );

  test("commits a lone write at once, and writes that arrive together in one commit", async () => {
    // A group ends early where its writes take long, as they do on a busy machine.
    using _clock = spyOn(performance, "now").mockReturnValue(1_000);
    await add("Rex");
    expect(commits).toEqual([1]);
    await Promise.all(["Tom", "Jerry", "Spike"].map((name) => add(name)));
    expect(commits).toEqual([1, 3]);
    expect(await names()).toEqual(["Rex", "Tom", "Jerry", "Spike"]);
  });

  test("lets one of a group fail without the others", async () => {
    const outcomes = await Promise.allSettled([add("Rex"), add("Tom"), add("Rex"), add("Spike")]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    expect(await names()).toEqual(["Rex", "Tom", "Spike"]);
  });

  test("undoes all that a failed write did", async () => {
    const insert = engine.query<null, [string, string]>("INSERT INTO pets VALUES (?, ?)");
    const failing = () =>
      engine.write(() => {
        insert.run("Tom", "");
        throw new Error("changed its mind");
      });
    await expect(failing()).rejects.toThrow("changed its mind");
    const [alone, first, last] = await Promise.allSettled([failing(), add("Rex"), failing()]);
    expect([alone?.status, first?.status, last?.status]).toEqual(["rejected", "fulfilled", "rejected"]);
    expect(await names()).toEqual(["Rex"]);
  });

  test("refuses an asynchronous write, and keeps nothing of it", async () => {
    const insert = engine.query<null, [string, string]>("INSERT INTO pets VALUES (?, ?)");
    const asynchronous = engine.write(async () => {
      insert.run("Tom", "");
      await Promise.resolve();
      return "done";
    });
    await expect(asynchronous).rejects.toThrow("must not be asynchronous");
    expect(await names()).toEqual([]);
  });

  test("ends a group that takes long, so that others get their turn", async () => {
    const slow = () => {
      const endMs = performance.now() + 15;
      while (performance.now() < endMs);
    };
    await Promise.all(Array.from({ length: 6 }, () => engine.write(slow)));
    expect(commits.length).toBeGreaterThan(1);
    expect(commits.reduce((sum, writes) => sum + writes, 0)).toBe(6);
  });

  test("is unavailable while the disk is full, still reads, and goes on by itself once there is space", async () => {
    await add("Rex");
    const pages = database.prepare<{ page_count: number }, []>("PRAGMA page_count").get()?.page_count ?? 0;
    database.run(`PRAGMA max_page_count = ${pages + 1}`);
    const outcomes = await Promise.allSettled([add("Tom", "x".repeat(20_000)), add("Jerry", "x".repeat(20_000))]);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "unavailable" } });
    }
    expect(await names()).toEqual(["Rex"]);
    database.run("PRAGMA max_page_count = 100000");
    await add("Tom", "x".repeat(20_000));
    expect(await names()).toEqual(["Rex", "Tom"]);
  });

  test("finishes what was accepted when it closes, and refuses what comes later", async () => {
    const accepted = [add("Rex"), add("Tom")];
    const closing = engine.close();
    await expect(add("Late")).rejects.toMatchObject({ code: "unavailable" });
    await expect(names()).rejects.toMatchObject({ code: "unavailable" });
    await Promise.all([...accepted, closing]);
    using reopened = await openConnection(directory.path);
    expect(reopened.prepare("SELECT name FROM pets").values()).toEqual([["Rex"], ["Tom"]]);
  });
});

test("a turn is one commit, and the hot paths compile nothing after their first use", async () => {
  const prepared: string[] = [];
  const statements: string[] = [];
  const commits: number[] = [];
  let checkpoints = 0;
  const observer = {
    onPrepare: (sql: string) => prepared.push(sql),
    onStatement: (sql: string) => statements.push(sql),
    onCommit: (writes: number) => commits.push(writes),
    onCheckpoint: () => void checkpoints++,
  };
  const opened = await openTemporaryStore({ observer });
  const world = await openWorld(async () => opened);
  const companion = await world.createCompanion(await world.createAccount());
  const turn = world.turnOf(companion);
  async function chat() {
    await world.store.companions.findByEmbedToken(companion.embedToken);
    await world.store.turns.listHistory(turn.key, 10_000);
    await world.store.turns.settle({ ...world.turnOf(companion), key: turn.key });
    await world.store.apiKeys.findByHash(sha256("unknown"));
  }
  do {
    await chat();
    for (const counted of [prepared, statements, commits]) counted.length = 0;
    checkpoints = 0;
    await chat();
    // The log is emptied once after the start: a thread's commit, after which what is remembered is read again.
  } while (checkpoints > 0);
  expect(prepared).toEqual([]);
  expect(commits).toEqual([1]);
  expect(statements.length).toBeLessThanOrEqual(14);
  await world.close();
});

test("a database file that is gone from its place takes no writes, and is missed by the check", async () => {
  const opened = await openTemporaryStore();
  const world = await openWorld(async () => opened);
  const account = await world.createAccount();
  const file = join(opened.dataDir, "companiond.db");
  renameSync(file, `${file}.away`);
  await expect(world.createCompanion(account)).rejects.toMatchObject({ code: "unavailable" });
  await expect(opened.store.check()).rejects.toMatchObject({ code: "unavailable" });
  // Another file in its place is no better.
  writeFileSync(file, "");
  await expect(world.createCompanion(account)).rejects.toMatchObject({ code: "unavailable" });
  renameSync(`${file}.away`, file);
  await opened.store.check();
  await world.createCompanion(account);
  await world.close();
});
