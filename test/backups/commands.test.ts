/** The commands for backups in S3: what they do, in which order, and what they refuse. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../support/cli.ts";
import { toEnvironment } from "../support/s3.ts";
import { countAccounts, enlarge, findLeftovers, startBackupsWorld } from "../support/stored-backups.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const name = /^companiond-\d{8}T\d{6}Z\.db\.zst$/;

test("uploads a database in parts, lists it, opens it, and restores it on an empty machine", async () => {
  await using world = await startBackupsWorld();
  const { data, s3 } = world;
  enlarge(data.path, 12 * 1024 * 1024);
  const uploaded = await world.upload();
  expect(uploaded).toMatch(name);
  expect(s3.requests.filter((one) => one.includes("partNumber="))).toHaveLength(2);
  const find = (start: string, end: string) =>
    s3.requests.findLastIndex((one) => one.startsWith(start) && one.endsWith(end));
  const completed = find("POST", "");
  const order = [completed, find("GET", uploaded), find("PUT", `${uploaded}.sha256`)];
  // It is read back before its checksum makes it a good one.
  expect(order).toEqual(order.toSorted((one, other) => one - other));
  expect(findLeftovers(data.path)).toEqual([]);

  const listed = await world.run(["backups", "list", "--json"]);
  const bytes = (await world.storage.find(uploaded))?.bytes;
  const stamp = /\d{8}T\d{6}Z/.exec(uploaded)?.[0] ?? "";
  const { data: rows } = JSON.parse(listed.stdout);
  expect(rows).toEqual([{ name: uploaded, created_at: expect.any(String), bytes, where: "s3" }]);
  expect(rows[0].created_at.replaceAll(/[-:]|\.\d+/g, "")).toBe(stamp);

  const verified = await world.run(["backups", "verify", "--json"]);
  expect(JSON.parse(verified.stdout)).toMatchObject({ name: uploaded, where: "s3", accounts: 1, companions: 0 });
  expect(findLeftovers(data.path)).toEqual([]);

  // Another machine: nothing but the settings, in a file.
  using empty = temporaryDirectory();
  const settings = Object.entries(s3.environment).map(([key, value]) => `${key}=${value}\n`);
  writeFileSync(empty.file("companiond.env"), settings.join(""));
  const dataDir = empty.file("data");
  const words = ["restore", `s3:${uploaded}`, "--env-file", empty.file("companiond.env"), "--data-dir", dataDir];
  const restored = await runCommand(words);
  expect(restored).toMatchObject({ exitCode: 0, stderr: "" });
  expect(restored.stdout).toContain("The key of sealed secrets is in no backup");
  expect(await countAccounts(dataDir)).toBe(1);
  expect(findLeftovers(dataDir)).toEqual([]);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
});

test("keeps the newest good ones there, in pairs, and touches nothing else", async () => {
  await using world = await startBackupsWorld();
  const old = (stamp: string) => `companiond-${stamp}.db.zst`;
  const foreign = ["companiond-notes.txt", "photo.jpg", "companiond-20200101T000000Z.db"];
  for (const other of foreign) await world.put(other, Buffer.from("mine"), null);
  for (const stamp of ["20200101T000000Z", "20200102T000000Z", "20200103T000000Z"]) {
    await world.put(old(stamp), Buffer.from(stamp));
  }
  // From a clock that was ahead.
  await world.put(old("20990101T000000Z"), Buffer.from("ahead"));
  await world.put(old("20200201T000000Z"), Buffer.from("unfinished, long ago"), null);
  await world.put(old("20200202T000000Z"), Buffer.from("unfinished, a moment ago"), null);
  const file = join(world.s3.directory, "companiond", `${old("20200201T000000Z")}._S3rver_object`);
  utimesSync(file, new Date(2020, 1, 1), new Date(2020, 1, 1));

  const made = await world.upload({ COMPANIOND_BACKUP_KEEP: "2" });
  const kept = [old("20200103T000000Z"), made].flatMap((one) => [one, `${one}.sha256`]);
  expect(await world.names()).toEqual([...foreign, ...kept, old("20200202T000000Z")].sort());
  const { stdout } = await world.run(["backups", "list", "--json"]);
  const { data } = JSON.parse(stdout);
  expect(data.map((one: { name: string }) => one.name)).toEqual([made, old("20200103T000000Z")]);
});

test("never writes over an object of the same second", async () => {
  await using world = await startBackupsWorld();
  const first = await world.upload();
  const bytes = await world.read(first);
  const others = [await world.upload(), await world.upload()];
  expect(new Set([first, ...others]).size).toBe(3);
  expect(await world.read(first)).toEqual(bytes);
});

test("lists what is here and there, newest first, and checks what is here, too", async () => {
  await using world = await startBackupsWorld();
  const dir = world.data.file("backups");
  mkdirSync(dir);
  const local = ["before-migration-1-to-2-20210101T000000Z.db", "companiond-20220101T000000Z.db"];
  for (const one of local) await world.run(["backup", join(dir, one)]);
  writeFileSync(join(dir, "companiond-20230101T000000Z.db.77.partial"), "half of one");
  const made = await world.upload();
  const { stdout } = await world.run(["backups", "list", "--json"]);
  const { data } = JSON.parse(stdout) as { data: { name: string; where: string }[] };
  expect(data.map((one) => `${one.where} ${one.name}`)).toEqual([
    `s3 ${made}`,
    `local ${local[1]}`,
    `local ${local[0]}`,
  ]);

  const verify = (words: string[], environment = {}) => world.run(["backups", "verify", ...words], { environment });
  expect((await verify(["companiond-20220101T000000Z.db"])).stdout).toContain("It holds 1 account, 0 companions");
  expect((await verify([`s3:${made}`])).stdout).toStartWith(`${made} is good`);
  const none = { environment: { COMPANIOND_DATA_DIR: world.data.path } };
  expect((await runCommand(["backups", "verify"], none)).stdout).toStartWith(`${local[1]} is good`);
  writeFileSync(join(dir, "companiond-20220101T000000Z.db"), "not a database");
  expect(await runCommand(["backups", "verify"], none)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("companiond-20220101T000000Z.db is damaged, or not a database."),
  });
});

test.each([
  [
    "keys that are wrong",
    { COMPANIOND_BACKUP_S3_KEY_ID: "OTHER", COMPANIOND_BACKUP_S3_SECRET: "the-secret-itself" },
    "Check COMPANIOND_BACKUP_S3_KEY_ID.",
  ],
  [
    "a secret that is wrong",
    { COMPANIOND_BACKUP_S3_SECRET: "the-secret-itself" },
    "does not accept the secret of the access key. Check COMPANIOND_BACKUP_S3_SECRET.",
  ],
  ["a bucket that is not there", { COMPANIOND_BACKUP_S3_BUCKET: "none" }, "There is no such bucket."],
])("says what to do about %s, shows what is here, and tells no keys", async (_, environment, sentence) => {
  await using world = await startBackupsWorld();
  mkdirSync(world.data.file("backups"));
  await world.run(["backup", world.data.file("backups/companiond-20220101T000000Z.db")]);
  const told = { ...environment, COMPANIOND_BACKUP_CRON: "0 3 * * *" };
  const outcomes = await Promise.all(
    [["backup", "s3:"], ["backups", "verify"], ["backups", "list"], ["doctor"]].map((words) =>
      world.run(words, { environment: told }),
    ),
  );
  expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([1, 1, 1, 1]);
  for (const { stdout, stderr } of outcomes) {
    expect(stdout + stderr).toContain(sentence);
    expect(stdout + stderr).not.toMatch(/the-secret-itself|OTHER|S3RVER/);
  }
  expect(outcomes[2]?.stdout).toContain("companiond-20220101T000000Z.db");
  expect(outcomes[3]?.stdout).toMatch(/fail {2}backups off the machine/);
  expect(readdirSync(world.data.path).filter((one) => one.startsWith("unfinished"))).toEqual([]);
});

const nowhere = { endpoint: null, region: null, bucket: "b", prefix: "p", keyId: "i", secret: "s" };
const noStorage = "No storage is set up for backups. Set COMPANIOND_BACKUP_S3_BUCKET";
const postgres = { DATABASE_URL: "postgres://u:p@127.0.0.1:1/none", COMPANIOND_SECRET_KEY: `${"A".repeat(43)}=` };

test.each<[string[], Record<string, string>, number, string]>([
  [["backup", "s3:mine"], {}, 2, "named after their time"],
  [["restore", "s3:"], {}, 2, "as companiond backups list shows it"],
  [["restore", "a.db", "--age-identity", "i"], {}, 2, "for backups of the storage"],
  [["backup", "s3:"], {}, 1, noStorage],
  [["restore", "s3:a"], {}, 1, noStorage],
  [["backups", "verify", "a.db.zst"], {}, 1, noStorage],
  [["backups", "verify"], {}, 1, "There is no backup in "],
  [["backup", "s3:"], postgres, 1, "use pg_dump"],
  [["restore", "s3:a"], postgres, 1, "use pg_restore"],
  [["backups", "list"], postgres, 1, "use pg_dump"],
  [["backups", "verify"], postgres, 1, "use pg_dump"],
  [["backup", "s3:"], { ...postgres, ...toEnvironment(nowhere) }, 2, "back PostgreSQL up with pg_dump"],
])("refuses %j with %j", async (words, environment, exitCode, sentence) => {
  using data = temporaryDirectory();
  const outcome = await runCommand([...words, "--data-dir", data.path], { environment });
  expect(outcome).toMatchObject({ exitCode, stdout: "", stderr: expect.stringContaining(sentence) });
  expect(findLeftovers(data.path)).toEqual([]);
});
