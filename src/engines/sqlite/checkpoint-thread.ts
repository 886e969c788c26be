/** The thread that copies the write-ahead log into the database file, since that waits for the disk several times. */
import { Database } from "bun:sqlite";
import type { CheckpointReply, CheckpointRequest } from "./checkpoints.ts";

declare const self: Worker;

interface Row {
  busy: number;
  log: number;
  checkpointed: number;
}

let opened: { copier: Database; reader: Database } | null = null;

self.onmessage = ({ data }: MessageEvent<CheckpointRequest>) => self.postMessage(respond(data));

function respond(request: CheckpointRequest): CheckpointReply {
  try {
    return { pages: take(request), failure: null };
  } catch (error) {
    // A snapshot that stays open would let the log grow without end.
    close();
    const { code = "", message } = error as Error & { code?: string };
    return { pages: 0, failure: { code, message } };
  }
}

/** Returns how many pages of the log are left to copy. */
function take({ path, step }: CheckpointRequest): number {
  if (step === "close") return close();
  opened ??= { copier: open(path), reader: open(path) };
  const { copier, reader } = opened;
  if (reader.inTransaction) reader.run("COMMIT");
  if (step === "copy") {
    // A log in use is not begun again, which would wait for the disk within the commit that does so.
    reader.run("BEGIN");
    reader.query("SELECT 1 FROM sqlite_schema LIMIT 1").get();
  }
  const { busy, log, checkpointed } = checkpoint(copier, step === "empty" ? "TRUNCATE" : "PASSIVE");
  const left = busy === 0 ? log - checkpointed : Math.max(1, log - checkpointed);
  if (step !== "copy" && left === 0) beginAgain(copier);
  return left;
}

function close(): 0 {
  for (const database of Object.values(opened ?? {})) database.close();
  opened = null;
  return 0;
}

/** Whatever writes first after a checkpoint begins the log again and syncs its head: this does, so that no commit has to. */
function beginAgain(database: Database): void {
  database.run("BEGIN IMMEDIATE");
  try {
    const version = database.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
    database.run(`PRAGMA user_version = ${version}`);
    database.run("COMMIT");
  } finally {
    if (database.inTransaction) database.run("ROLLBACK");
  }
}

function checkpoint(database: Database, mode: "PASSIVE" | "TRUNCATE"): Row {
  const row = database.query<Row, []>(`PRAGMA wal_checkpoint(${mode})`).get();
  if (row === null) throw new Error("a checkpoint reported nothing");
  return row;
}

function open(path: string): Database {
  const database = new Database(path, { readwrite: true });
  for (const pragma of ["busy_timeout = 5", "synchronous = NORMAL", "wal_autocheckpoint = 0"]) {
    database.run(`PRAGMA ${pragma}`);
  }
  return database;
}
