/** SQLite and its disk: when a write is on it, what a failing one does, and how the log gets into the database file. */
import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { existsSync, renameSync, statSync } from "node:fs";
import { openConnection } from "../../src/engines/sqlite/connection.ts";
import type { StoreDatabase } from "../../src/engines/sqlite/database.ts";
import { type EngineOptions, SqliteEngine } from "../../src/engines/sqlite/engine.ts";
import { WriteQueue } from "../../src/engines/sqlite/writer.ts";
import { eventually } from "../support/eventually.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

let directory: TemporaryDirectory;
let database: StoreDatabase;
beforeEach(async () => {
  directory = temporaryDirectory();
  database = await openConnection(directory.path);
  database.run("CREATE TABLE pets (name TEXT, photo TEXT)");
});
afterEach(() => directory[Symbol.dispose]());

const names = () => database.query<{ name: string }, []>("SELECT name FROM pets ORDER BY rowid").all();

describe("a write and its sync", () => {
  let syncs: PromiseWithResolvers<void>[];
  let commits: number[];
  let lost: unknown[];
  let settled: string[];
  const queueOf = (lockLimitMs = 5_000) => {
    [syncs, commits, lost, settled] = [[], [], [], []];
    const sync = () => {
      const one = Promise.withResolvers<void>();
      syncs.push(one);
      return one.promise;
    };
    const observer = { onCommit: (writes: number) => commits.push(writes) };
    return new WriteQueue(database, { observer, lockLimitMs, sync, onLost: (error) => lost.push(error) });
  };
  const add = (queue: WriteQueue, name: string, isLasting = true) => {
    const insert = () => database.query<null, [string]>("INSERT INTO pets (name) VALUES (?)").run(name);
    return queue.run(insert, isLasting).then(
      () => settled.push(name),
      (error) => settled.push(`${name}: ${error.code}`),
    );
  };
  afterEach(() => database.closeWithStatements());

  test("is visible with its commit, and resolves only after a sync that began after it", async () => {
    const queue = queueOf();
    const rex = add(queue, "Rex");
    await eventually(() => syncs.length === 1);
    expect([names(), settled]).toEqual([[{ name: "Rex" }], []]);
    syncs[0]?.resolve();
    await rex;
    expect(settled).toEqual(["Rex"]);
  });

  test("what arrives during a sync shares the next commit, and waits for the sync after that", async () => {
    const queue = queueOf();
    const first = add(queue, "Rex");
    await eventually(() => syncs.length === 1);
    const others = ["Tom", "Jerry", "Spike"].map((name) => add(queue, name));
    syncs[0]?.resolve();
    await first;
    await eventually(() => syncs.length === 2);
    expect([commits, settled]).toEqual([[1, 3], ["Rex"]]);
    syncs[1]?.resolve();
    await Promise.all(others);
    expect(settled).toEqual(["Rex", "Tom", "Jerry", "Spike"]);
  });

  test("what is only staged waits for no disk, but for the one of what shares its commit", async () => {
    const queue = queueOf();
    await add(queue, "Rex", false);
    expect([syncs.length, settled]).toEqual([0, ["Rex"]]);
    const both = [add(queue, "Tom", false), add(queue, "Jerry")];
    await eventually(() => syncs.length === 1);
    expect(settled).toEqual(["Rex"]);
    syncs[0]?.resolve();
    await Promise.all(both);
    expect(settled).toEqual(["Rex", "Tom", "Jerry"]);
  });

  test("after a failed sync nothing is written or synced again, and all that waits or comes is unavailable", async () => {
    const queue = queueOf();
    const writes = [add(queue, "Rex")];
    await eventually(() => syncs.length === 1);
    writes.push(add(queue, "Tom"));
    syncs[0]?.reject(new Error("EIO"));
    await Promise.all(writes);
    await add(queue, "Jerry");
    await queue.drain();
    expect(settled.toSorted()).toEqual(["Jerry: unavailable", "Rex: unavailable", "Tom: unavailable"]);
    expect([commits, syncs.length, lost]).toEqual([[1], 1, [new Error("EIO")]]);
  });

  test("a sync that fails within a commit ends writing as one beside it does", async () => {
    const queue = queueOf();
    const failed = queue.run(() => {
      throw Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_FSYNC" });
    });
    await expect(failed).rejects.toMatchObject({ code: "unavailable" });
    await add(queue, "Rex");
    expect([settled, syncs.length, lost.length]).toEqual([["Rex: unavailable"], 0, 1]);
  });

  test("a disk that does not answer refuses what waits for it, and takes writes again once it answers", async () => {
    const queue = queueOf(1);
    const first = add(queue, "Rex");
    await eventually(() => syncs.length === 1);
    await add(queue, "Tom");
    await add(queue, "Jerry");
    expect(settled).toEqual(["Tom: unavailable", "Jerry: unavailable"]);
    syncs[0]?.resolve();
    await first;
    const last = add(queue, "Spike");
    await eventually(() => syncs.length === 2);
    syncs[1]?.resolve();
    await last;
    expect([settled.slice(2), lost]).toEqual([["Rex", "Spike"], []]);
  });
});

describe("the log", () => {
  let engine: SqliteEngine;
  let problems: unknown[];
  const open = (options: EngineOptions = {}) => {
    problems = [];
    engine = new SqliteEngine(database, { onCheckpointProblem: (error) => problems.push(error), ...options });
  };
  const addPages = (pages: number) =>
    engine.write(() => {
      const insert = database.query<null, [string]>("INSERT INTO pets (photo) VALUES (?)");
      for (let page = 0; page < pages; page++) insert.run("x".repeat(4_000));
    });
  const log = () => database.query<{ log: number; checkpointed: number }, []>("PRAGMA wal_checkpoint(NOOP)").get();
  const bytes = () => statSync(database.filename).size;

  test("is copied into the database file once it is long, and begins again", async () => {
    open();
    await addPages(1_100);
    await eventually(() => (log()?.log ?? 0) < 10, { what: "the log to begin again" });
    expect(bytes()).toBeGreaterThan(1_100 * 4_096);
    await addPages(3);
    expect(log()?.log).toBeLessThan(20);
    await engine.close();
    expect(problems).toEqual([]);
    expect(existsSync(`${database.filename}-wal`)).toBe(false);
  });

  test("is copied while writes go on, none of which is lost", async () => {
    open();
    let written = 0;
    while (bytes() < 2_500 * 4_096) {
      await addPages(40);
      written += 40;
    }
    await engine.close();
    using reopened = await openConnection(directory.path);
    expect(reopened.query<{ n: number }, []>("SELECT count(*) AS n FROM pets").get()?.n).toBe(written);
  });

  test("a checkpoint that fails is reported, writes go on, and a later one copies all", async () => {
    const path = database.filename;
    let isToMove = true;
    open({
      observer: {
        onCommit() {
          if (isToMove) renameSync(path, `${path}.away`);
          isToMove = false;
        },
      },
    });
    await addPages(1_100);
    await eventually(() => problems.length === 1);
    expect(problems).toMatchObject([{ code: "unavailable" }]);
    renameSync(`${path}.away`, path);
    await addPages(1_100);
    await eventually(() => (log()?.log ?? 0) < 10, { what: "the log to begin again" });
    await engine.close();
  });

  test("is not copied again with each commit while a reader of another process needs it", async () => {
    let checkpoints = 0;
    open({ observer: { onCheckpoint: () => void checkpoints++ } });
    await addPages(10);
    using reader = await openConnection(directory.path);
    reader.run("BEGIN");
    reader.query("SELECT count(*) FROM pets").get();
    await addPages(1_100);
    await eventually(() => checkpoints === 1);
    for (let count = 0; count < 5; count++) await addPages(1);
    reader.run("COMMIT");
    await engine.close();
    expect(checkpoints).toBe(1);
  });

  test("is emptied down to what no one had deleted, unless a reader needs it", async () => {
    open();
    await addPages(10);
    using reader = await openConnection(directory.path);
    reader.run("BEGIN");
    reader.query("SELECT count(*) FROM pets").get();
    await addPages(10);
    const emptied = engine.emptyLog();
    await Bun.sleep(0);
    reader.run("COMMIT");
    await emptied;
    expect(log()?.log).toBe(1);
    await engine.close();
  });

  test("is empty after a clean start, which no thread has to come for", async () => {
    open();
    await addPages(10);
    await engine.close();
    database = await openConnection(directory.path);
    open();
    // No `new` works on what is watched.
    using workers = spyOn(globalThis, "Worker");
    await engine.emptyLog();
    expect(workers).not.toHaveBeenCalled();
    await addPages(10);
    await expect(engine.emptyLog()).rejects.toThrow();
    await engine.close();
  });

  test("is left to the next process where the disk was lost", async () => {
    const lost: unknown[] = [];
    const sync = () => Promise.reject(new Error("EIO"));
    open({ sync, onLost: (error) => lost.push(error) });
    await expect(addPages(10)).rejects.toMatchObject({ code: "unavailable" });
    await engine.close();
    expect(lost).toEqual([new Error("EIO")]);
    expect(statSync(`${database.filename}-wal`).size).toBeGreaterThan(0);
    database.closeWithStatements();
  });
});
