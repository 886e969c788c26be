/** A machine that loses power: what its disk had not confirmed is gone, in part or whole, and nothing acknowledged with it. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiFaults } from "./client.ts";
import { afterPowerFailure, canTrace, type Operation, parseOperations, readTrace, recordWrites } from "./disk-trace.ts";
import { lossFaults, verifyOnDisk, workOnDisk } from "./disk-work.ts";
import { type FaultRow, type Random, type RowContext, skipped, Tally } from "./row.ts";
import { makeCompanion, makeOwner, openWorld, type World } from "./world.ts";

const failures = { tiny: 12, short: 200, long: 1_000 };
/** Long enough that the log is copied into the database file more than once. */
const companions = { tiny: 90, short: 400, long: 400 };
const files = ["companiond.db", "companiond.db-wal"] as const;

export const powerLossRow: FaultRow = {
  name: "power-loss",
  title: "a machine that loses power",
  story:
    "Everything that the server writes and syncs is recorded while visitors chat and companions come and go. From that, " +
    "files are made as a power failure at a random moment may leave them: what a sync had confirmed is there, of the rest " +
    "some, all or nothing, in any order. What had been acknowledged to clients by then must be in each of them, and each must be whole.",
  async run(context) {
    if (!canTrace()) return skipped("writes are recorded by strace, which is not there or may not trace");
    const tally = new Tally([...apiFaults, ...lossFaults]);
    const directory = mkdtempSync(join(tmpdir(), "companiond-power-"));
    try {
      await using world = await openWorld();
      await loseAndRead(world, tally, context, directory);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
    return tally.outcome();
  },
};

async function loseAndRead(world: World, tally: Tally, context: RowContext, directory: string): Promise<void> {
  const owner = await makeOwner(world, tally, "power");
  const { token } = await makeCompanion(owner.client);
  const { dataDir } = world.server;
  await world.server.stop();
  const before = files.map((name) => readOrEmpty(join(dataDir, name)));
  const traceFile = join(directory, "trace");
  const { pid } = await world.restart(recordWrites(traceFile));
  const acknowledged = await workOnDisk(world, tally, { owner, token, companions: companions[context.form] });
  await world.server.kill();
  const operations = parseOperations(await readTrace(traceFile, pid)).filter(({ file }) => isOne(file));
  const syncs = operations.filter(({ what, file }) => what === "sync" && file === files[0]).length;
  // Otherwise the row would not show the moments that matter: those in which the log is copied.
  tally.atLeast("syncs of the database file", syncs, 2);
  const [from, to] = [operations[0]?.startedAt ?? 0, operations.at(-1)?.startedAt ?? 0];
  for (let count = 0; count < failures[context.form]; count++) {
    const atSeconds = from + (context.random.below(1_000_000) / 1_000_000) * (to - from);
    fail(directory, before, operations, atSeconds, context.random);
    tally.did("power failures");
    const byThen = acknowledged.filter((one) => one.atSeconds < atSeconds);
    verifyOnDisk(join(directory, files[0]), byThen, tally);
  }
}

function isOne(file: string): boolean {
  return files.some((name) => name === file);
}

function readOrEmpty(path: string): Buffer {
  return existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
}

function fail(
  directory: string,
  before: readonly Buffer[],
  operations: readonly Operation[],
  atSeconds: number,
  random: Random,
): void {
  rmSync(join(directory, `${files[0]}-shm`), { force: true });
  for (const [index, name] of files.entries()) {
    const own = operations.filter(({ file }) => file === name);
    const copy = Buffer.from(before[index] ?? []);
    writeFileSync(join(directory, name), afterPowerFailure(copy, own, atSeconds, random));
  }
}
