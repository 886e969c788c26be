/** Disks that are slow to confirm what was written, which no stream may feel, and disks that cannot. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiFaults } from "./client.ts";
import { canTrace, disturbSyncs, readTrace } from "./disk-trace.ts";
import { lossFaults, verifyOnDisk, workOnDisk } from "./disk-work.ts";
import { type FaultRow, type Outcome, skipped, Tally } from "./row.ts";
import { makeCompanion, makeOwner, openWorld, type World } from "./world.ts";

const companions = { tiny: 60, short: 400, long: 1_500 };
const failures = { tiny: 1, short: 20, long: 60 };
const delayMicros = 5_000;
const untilGone = 10_000;

interface Scene {
  world: World;
  tally: Tally;
  traceFile: string;
  /** Works until so many companions were made, or the server is gone. */
  work(companions: number): ReturnType<typeof workOnDisk>;
}

async function withScene(
  play: (scene: Scene) => Promise<void>,
  furtherFaults: readonly string[] = [],
): Promise<Outcome> {
  if (!canTrace()) return skipped("a disk is disturbed by strace, which is not there or may not trace");
  const tally = new Tally([...apiFaults, ...lossFaults, ...furtherFaults]);
  const directory = mkdtempSync(join(tmpdir(), "companiond-disk-"));
  try {
    await using world = await openWorld();
    const owner = await makeOwner(world, tally, "disk");
    const { token } = await makeCompanion(owner.client);
    await world.server.stop();
    const work = (companions: number) => workOnDisk(world, tally, { owner, token, companions });
    await play({ world, tally, traceFile: join(directory, "trace"), work });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return tally.outcome();
}

const databaseOf = (world: World) => join(world.server.dataDir, "companiond.db");

export const slowDiskRow: FaultRow = {
  name: "slow-disk",
  title: "a disk whose syncs take 5 ms",
  story:
    "Each sync takes 5 ms, as on the network disks of small machines, while visitors chat and companions come and go. The " +
    "event loop must wait for none of them: every open stream would stand still meanwhile.",
  run: (context) =>
    withScene(async ({ world, tally, traceFile, work }) => {
      const { pid } = await world.restart(disturbSyncs(traceFile, `delay_enter=${delayMicros}`));
      const servingAt = Date.now() / 1_000;
      const acknowledged = await work(companions[context.form]);
      await world.server.kill();
      const syncs = (await readTrace(traceFile, pid)).map((line) => /^(\d+) +([\d.]+) f(data)?sync\(/.exec(line));
      const later = syncs.filter((sync) => Number(sync?.[2]) > servingAt);
      const onLoop = later.filter((sync) => Number(sync?.[1]) === pid).length;
      tally.did("syncs beside the event loop", later.length - onLoop);
      // The first commit after a start makes the log, with its head and its name in the directory.
      tally.atMost("syncs on the event loop, but for the first commit's", Math.max(0, onLoop - 2), 0);
      tally.atLeast("syncs", later.length, 20);
      verifyOnDisk(databaseOf(world), acknowledged, tally);
    }),
};

const endFaults = [
  "servers that ended otherwise than with exit code 1",
  "servers that gave no reason",
  "servers that were not ready after the next start",
];

export const failingDiskRow: FaultRow = {
  name: "failing-disk",
  title: "a disk that cannot sync what was written",
  story:
    "At a random moment every sync begins to fail. What waits for one must not be acknowledged, no sync may be tried again, " +
    "and the server must say why and end with exit code 1. The next start reads what is there: all that was acknowledged.",
  run: (context) =>
    withScene(async ({ world, tally, traceFile, work }) => {
      for (let count = 0; count < failures[context.form]; count++) {
        // Each thread counts its own.
        const from = 2 + context.random.below(40);
        await world.restart(disturbSyncs(traceFile, `error=EIO:when=${from}+`));
        const acknowledged = await work(untilGone);
        const exitCode = await world.server.exited;
        tally.did("disks that failed");
        if (exitCode !== 1) tally.fault("servers that ended otherwise than with exit code 1", String(exitCode));
        // What it printed last may still be on its way.
        await world.server.printed(/The disk did not confirm what was written/).catch((error: unknown) => {
          tally.fault("servers that gave no reason", String(error).slice(-400));
        });
        verifyOnDisk(databaseOf(world), acknowledged, tally);
        const next = await world.restart();
        const { status } = await fetch(`${next.url}/readyz`);
        if (status !== 200) tally.fault("servers that were not ready after the next start", String(status));
        await next.stop();
      }
    }, endFaults),
};
