/**
 * Another process on the same database: `bun sqlite-process.ts <what> <data directory>`; a line on stdin lets it
 * continue.
 */
import { Database } from "bun:sqlite";
import { createErasureMarks } from "../../src/engines/memory/coordination/erasure-marks.ts";
import { migrateSqlite } from "../../src/engines/sqlite/migrator.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { openStoreAt } from "./sqlite-store.ts";
import { openWorld } from "./store-world.ts";

async function nextLine(): Promise<void> {
  for await (const _ of console) return;
}

async function migrate(dataDir: string): Promise<void> {
  console.log("ready");
  await nextLine();
  console.log(JSON.stringify(await migrateSqlite({ dataDir })));
}

async function holdLock(dataDir: string): Promise<void> {
  const database = new Database(`${dataDir}/companiond.db`);
  // The store under test may just be emptying its log.
  database.run("PRAGMA busy_timeout = 5000");
  database.run("BEGIN IMMEDIATE");
  console.log("held");
  await nextLine();
  database.run("COMMIT");
  console.log("released");
}

/** Settles turns endlessly, sixteen at a time, and prints the conversation of each acknowledged one. */
async function settle(dataDir: string): Promise<void> {
  const world = await openWorld(async () => {
    const store = await openStoreAt(dataDir);
    return { store, arrivals: createErasureMarks(), close: async () => {} };
  });
  const companion = await world.createCompanion(await world.createAccount());
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (;;) {
        const turn = world.turnOf(companion, { said: systemIds.secret(300) });
        await world.store.turns.settle(turn);
        console.log(`${companion.accountId} ${turn.conversationId}`);
      }
    }),
  );
}

const actions: Record<string, (dataDir: string) => Promise<void>> = { migrate, "hold-lock": holdLock, settle };
const [, , action = "", dataDir = ""] = process.argv;
await actions[action]?.(dataDir);
process.exit(0);
