/** Scheduled backups that are uploaded, what of it is logged and counted, and what an interruption leaves. */
import { afterEach, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describeMeasurements } from "../../src/api/metrics/families.ts";
import type { StorageLocation } from "../../src/contracts/backup-storage.ts";
import { storageProcessLimits } from "../../src/core/backups/storage-process.ts";
import { Measurements } from "../../src/core/metrics/measurements.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { type BackupPlan, startBackups } from "../../src/server/jobs/backups.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { eventually, inTime } from "../support/eventually.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { type BackupsWorld, enlarge, findLeftovers, startBackupsWorld } from "../support/stored-backups.ts";

const main = join(import.meta.dir, "../../src/main.ts");
const command = [process.execPath, main];

let proxy: FaultProxy | null = null;
afterEach(async () => {
  await proxy?.[Symbol.asyncDispose]();
  proxy = null;
});

/** A server's backups, with a schedule that the test keeps. */
function schedule(world: BackupsWorld, place: StorageLocation = world.s3.place, keep = 2) {
  const parts = { clock: systemClock, log: createCapturedLog(), measurements: new Measurements() };
  const plan: BackupPlan = {
    dataDir: world.data.path,
    dir: world.data.file("backups"),
    keep,
    cron: "0 3 * * *",
    upload: { storage: { ...place, ageRecipient: null }, network: {} },
  };
  let run = async () => {};
  const backups = startBackups(parts, plan, command, (_, due) => {
    run = due;
    return { stop() {} };
  });
  return { ...parts, plan, stop: () => backups.stop(), run: () => run() };
}

async function readMetrics(measurements: Measurements): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const family of await describeMeasurements(measurements)) {
    if (!family.name.includes("backup_upload") || !("samples" in family)) continue;
    for (const { labels, value } of family.samples) found[[family.name, ...Object.values(labels)].join(" ")] = value;
  }
  return found;
}

test("uploads each scheduled backup under its own name, and keeps as many there", async () => {
  await using world = await startBackupsWorld();
  const scheduled = schedule(world);
  expect(Object.keys(await readMetrics(scheduled.measurements))).not.toContain(
    "companiond_backup_upload_last_success_timestamp_seconds",
  );
  for (let i = 0; i < 3; i++) await scheduled.run();
  const local = readdirSync(scheduled.plan.dir).sort();
  expect(local).toHaveLength(2);
  expect(await world.names()).toEqual(local.flatMap((name) => [`${name}.zst`, `${name}.zst.sha256`]));
  const { backups, backupUploads } = scheduled.measurements;
  expect([backups.succeeded, backupUploads.succeeded, backupUploads.failed]).toEqual([3, 3, 0]);
  expect(await readMetrics(scheduled.measurements)).toMatchObject({
    "companiond_backup_uploads_total succeeded": 3,
    "companiond_backup_uploads_total failed": 0,
    companiond_backup_upload_last_success_timestamp_seconds: expect.any(Number),
    companiond_backup_upload_schedule_start_timestamp_seconds: expect.any(Number),
  });
  expect(scheduled.log.events.map(({ event }) => event)).toEqual(
    Array.from({ length: 3 }, () => ["database backed up", "backup uploaded"]).flat(),
  );
});

test("an upload that fails is logged and counted without the keys, and the backup here stays", async () => {
  await using world = await startBackupsWorld();
  const scheduled = schedule(world, { ...world.s3.place, keyId: "other-id", secret: "other-secret" });
  await scheduled.run();
  expect(readdirSync(scheduled.plan.dir)).toHaveLength(1);
  const { backups, backupUploads } = scheduled.measurements;
  expect([backups.succeeded, backups.failed, backupUploads.succeeded, backupUploads.failed]).toEqual([1, 0, 0, 1]);
  expect(scheduled.log.text()).toContain(
    "The storage does not know the access key. Check COMPANIOND_BACKUP_S3_KEY_ID.",
  );
  expect(scheduled.log.text()).not.toMatch(/other-(id|secret)/);
});

/** A line that holds everything from the first request that this is true of. */
async function startHoldingLine({ s3 }: BackupsWorld, isLast: (request: string) => boolean) {
  const opened = await startFaultProxy(s3.port);
  proxy = opened;
  const held = Promise.withResolvers<void>();
  s3.onRequest = (request) => {
    if (!isLast(request)) return;
    s3.onRequest = null;
    void opened.set("hold");
    held.resolve();
  };
  return { place: { ...s3.place, endpoint: `http://127.0.0.1:${opened.port}` }, held: held.promise };
}

test("a server that stops ends an upload at once, and neither logs nor counts it", async () => {
  await using world = await startBackupsWorld();
  enlarge(world.data.path, 40 * 1024 * 1024);
  const line = await startHoldingLine(world, (request) => request.includes("uploads="));
  // On a busy machine the storage is asked late to drop what it has: that it is asked is what counts here.
  storageProcessLimits.stopMs = 60_000;
  const scheduled = schedule(world, line.place);
  const running = scheduled.run();
  await inTime(line.held, { what: "the upload" });
  const stopped = scheduled.stop();
  await proxy?.set("pass");
  await stopped;
  await running;
  expect(scheduled.log.events.map(({ event }) => event)).toEqual(["database backed up"]);
  expect(scheduled.measurements.backupUploads).toEqual({ succeeded: 0, failed: 0, lastSuccessAtMs: null });
  expect(await world.names()).toEqual([]);
  await eventually(() => world.s3.requests.some((one) => one.startsWith("DELETE ") && one.includes("uploadId=")));
});

test.each([
  ["SIGTERM", 143],
  ["SIGKILL", 137],
] as const)(
  "a verify ended by %s leaves nothing after the next, and AWS's variables have no effect",
  async (signal, exitCode) => {
    await using world = await startBackupsWorld();
    enlarge(world.data.path, 12 * 1024 * 1024);
    const name = await world.upload();
    const { place, held } = await startHoldingLine(world, (request) => request === `GET /backups/companiond/${name}`);
    const child = Bun.spawn([...command, "backups", "verify", name, "--data-dir", world.data.path], {
      env: {
        ...world.s3.environment,
        COMPANIOND_BACKUP_S3_ENDPOINT: String(place.endpoint),
        AWS_SESSION_TOKEN: "somebody-else's",
        S3_SESSION_TOKEN: "somebody-else's",
      },
      stdout: "ignore",
      stderr: "ignore",
    });
    const find = () => findLeftovers(world.data.path).map((one) => world.data.file(one));
    await inTime(held, { what: "the download" });
    expect(find().map((dir) => readdirSync(dir).sort())).toEqual([["serve.lock", "stored"]]);
    child.kill(signal);
    expect(await child.exited).toBe(exitCode);
    expect(find()).toHaveLength(signal === "SIGKILL" ? 1 : 0);
    if (signal === "SIGKILL") expect(await world.run(["backups", "verify"])).toMatchObject({ exitCode: 0 });
    expect(find()).toEqual([]);
    expect(world.s3.sessionTokens).toEqual([]);
  },
);
