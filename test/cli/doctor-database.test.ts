/** What doctor makes of the facts about PostgreSQL. */
import { expect, test } from "bun:test";
import { judgeDatabase } from "../../src/cli/doctor/database.ts";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import type { DatabaseServerFacts } from "../../src/contracts/store/inspection.ts";
import { createSealing, makeSealingKey, readSealingKey } from "../../src/lib/sealing.ts";

const verified = "postgres://app:pw@db.example/companiond?sslmode=verify-full";
const instance = { version: "1.2.0", sharesWindows: true, url: "http://10.0.0.11:3000" };
const differences = { changed: [], added: [] };
const good: DatabaseServerFacts = {
  version: "15.18",
  isSupported: true,
  encoding: "UTF8",
  roundTripMs: 0.34,
  clockOffsetMs: -12,
  tls: "TLSv1.3",
  isReadOnly: false,
  mayCreate: true,
  connections: { most: 97, byOthers: 3, besidesPools: 2 },
  schema: { applied: 4, known: 4, isReadable: true, isUnfinishedCopy: false, differences },
  instances: [instance, instance],
  proof: null,
  hasSealed: false,
  hasSealedWords: false,
  hasStopBudgets: false,
};

async function judge(
  changes: Partial<DatabaseServerFacts> = {},
  { url = verified, redisUrl = "redis://cache.example", secretKey = makeSealingKey(), uncopied = null }: Settings = {},
): Promise<Finding[]> {
  const database = { url, pool: 10, poolHeavy: 4 };
  return judgeDatabase({ ...good, ...changes }, { database, redisUrl, secretKey, uncopied });
}

interface Settings {
  url?: string;
  redisUrl?: string | null;
  secretKey?: string;
  uncopied?: { detail: string; advice: string } | null;
}

async function judgeOne(name: string, changes: Partial<DatabaseServerFacts>, settings?: Settings): Promise<string> {
  const found = (await judge(changes, settings)).filter((one) => one.name === name);
  return found
    .map(({ status, detail, advice }) => [status, detail, ...(advice === null ? [] : [advice])].join(" "))
    .join("\n");
}

test("finds nothing wrong with a good server", async () => {
  expect((await judge()).map(({ name, status, detail }) => `${status} ${name}: ${detail}`)).toEqual([
    "ok database: PostgreSQL 15.18 answers within 0.4 ms, at schema 4.",
    "ok database TLS: TLSv1.3, verified (verify-full).",
    "ok database clock: It agrees with this machine's.",
    "ok connections: An instance may open 16; of 97, others use 3: there is room for 5 instances.",
    "ok instances: 2 serve it: version 1.2.0.",
    "ok secret key: Nothing in the database is sealed yet.",
  ]);
});

test.each([
  [{ version: "14.9", isSupported: false }, "fail PostgreSQL 14.9 is too old."],
  [{ encoding: "SQL_ASCII" }, "fail Its encoding is SQL_ASCII"],
  [{ isReadOnly: true, mayCreate: false }, "fail It takes no writes. Name the primary"],
  [{ mayCreate: false }, "fail The user of DATABASE_URL may not create tables."],
  [
    { schema: { applied: 9, known: 4, isReadable: false, isUnfinishedCopy: false, differences } },
    "fail A newer version",
  ],
  [
    { schema: { applied: 2, known: 4, isReadable: true, isUnfinishedCopy: false, differences } },
    "warn PostgreSQL 15.18 answers within 0.4 ms, at schema 2 of 4.",
  ],
  [{ schema: "other" as const }, "fail It has tables of another program."],
  [
    { schema: { applied: 4, known: 4, isReadable: true, isUnfinishedCopy: true, differences } },
    "fail A copy into it was not finished. Run the same companiond copy again",
  ],
  [
    { schema: null },
    "fail PostgreSQL 15.18 answers within 0.4 ms, and there are no tables of companiond in companiond at db.example.",
  ],
  [{ schema: { applied: 5, known: 4, isReadable: true, isUnfinishedCopy: false, differences } }, "ok PostgreSQL 15.18"],
  [{ roundTripMs: 48 }, "warn PostgreSQL 15.18 answers within 48.0 ms. Move"],
])("judges the server with %p", async (changes, sentence) => {
  const judged = await judgeOne("database", changes);
  expect(judged).toStartWith(sentence);
  expect(judged).not.toContain("\n");
});

test("an empty database is wrong where the data is still in the directory", async () => {
  const uncopied = { detail: "/data holds a database.", advice: "Move it with companiond copy." };
  expect(await judgeOne("database", { schema: null }, { uncopied })).toBe(
    "fail /data holds a database. Move it with companiond copy.",
  );
  expect(await judgeOne("database", {}, { uncopied })).toStartWith("ok ");
});

test("names the tables that are not as this version makes them, but a few of many", async () => {
  const schema = { applied: 4, known: 4, isReadable: true, isUnfinishedCopy: false };
  const changed = Array.from({ length: 10 }, (_, at) => `t${at}`);
  const found = await judge({ schema: { ...schema, differences: { changed, added: ["notes"] } } });
  expect(found.filter(({ name }) => name === "tables").map(({ status, detail }) => `${status} ${detail}`)).toEqual([
    "fail Not as this version makes them, or missing: t0, t1, t2, t3, t4, t5, t6, t7 and 2 more.",
    "warn With more than this version makes: notes.",
  ]);
});

test("tells everything that is wrong with the server at once", async () => {
  const wrong = await judge({ isSupported: false, encoding: "LATIN1", isReadOnly: true });
  expect(wrong.filter(({ name }) => name === "database").map(({ status }) => status)).toEqual(["fail", "fail", "fail"]);
});

test.each([
  ["postgres://app:pw@db.example/companiond", null, "warn The connection to db.example is in clear text"],
  ["postgres://app:pw@db.example/companiond?sslmode=disable", null, "ok It is switched off."],
  ["postgres://app:pw@127.0.0.1/companiond", null, "ok None is needed"],
  ["postgres://app:pw@[::1]:5433/companiond", null, "ok None is needed"],
  ["postgres://app:pw@%2Frun%2Fpostgresql/companiond", null, "ok None is needed"],
  ["postgres://app:pw@db.example/companiond?sslmode=require", "TLSv1.3", "warn TLSv1.3, but nothing proves"],
  ["postgres://app:pw@db.example/companiond?sslmode=verify-ca", "TLSv1.2", "ok TLSv1.2, verified (verify-ca)."],
])("judges the encryption of %s with %p", async (url, tls, sentence) => {
  expect(await judgeOne("database TLS", { tls }, { url })).toStartWith(sentence);
});

test("warns of a clock that is off by more than a second, either way", async () => {
  expect(await judgeOne("database clock", { clockOffsetMs: 1000 })).toStartWith("ok ");
  expect(await judgeOne("database clock", { clockOffsetMs: 2340 })).toStartWith("warn It is 2.3 s ahead of this");
  expect(await judgeOne("database clock", { clockOffsetMs: -61_000 })).toStartWith("warn It is 61.0 s behind this");
});

test("looks for room for one instance more than there are, as a replacement needs it", async () => {
  const connections = { most: 51, byOthers: 3, besidesPools: 2 };
  expect(await judgeOne("connections", { connections })).toStartWith("ok An instance may open 16");
  expect(await judgeOne("connections", { connections: { ...connections, byOthers: 4 } })).toStartWith("warn ");
  expect(await judgeOne("connections", { connections: { ...connections, most: 18 } })).toStartWith("fail ");
});

test("warns of instances that count by themselves", async () => {
  const alone = { ...instance, sharesWindows: false };
  expect(await judgeOne("instances", { instances: [instance, alone] })).toStartWith(
    "warn 1 of 2 runs without REDIS_URL",
  );
  expect(await judgeOne("instances", { instances: [alone] })).toStartWith("warn 1 of 1 runs without REDIS_URL");
  expect(await judgeOne("instances", {}, { redisUrl: null })).toStartWith("warn 2 serve it with Redis");
  expect(await judgeOne("instances", { instances: [alone] }, { redisUrl: null })).toBe(
    "ok 1 serves it: version 1.2.0.",
  );
  expect(await judgeOne("instances", { instances: [] })).toBe("ok None serves this database now.");
  const other = { ...instance, version: "1.3.0" };
  expect(await judgeOne("instances", { instances: [other, instance] })).toBe("ok 2 serve it: version 1.2.0, 1.3.0.");
});

test("tells the key that sealed the secrets from another", async () => {
  const secretKey = makeSealingKey();
  const key = readSealingKey(secretKey);
  if (key === null) throw new Error("no key");
  const proof = await (await createSealing(key)).seal("proof", "companiond");
  expect(await judgeOne("secret key", { proof }, { secretKey })).toStartWith("ok COMPANIOND_SECRET_KEY opens");
  const other = await judgeOne("secret key", { proof });
  expect(other).toStartWith("fail COMPANIOND_SECRET_KEY is not the key");
  expect(other).not.toContain(secretKey);
  const stopped = { proof, instances: [] };
  expect(await judgeOne("secret key", stopped)).toStartWith("warn COMPANIOND_SECRET_KEY is not the key");
  expect(await judgeOne("secret key", { ...stopped, hasSealed: true })).toStartWith(
    "fail COMPANIOND_SECRET_KEY is not the key",
  );
  expect(await judgeOne("secret key", { ...stopped, hasSealedWords: true })).toMatch(
    /^fail COMPANIOND_SECRET_KEY is not the key.*without it serve starts, but contacts/,
  );
});
