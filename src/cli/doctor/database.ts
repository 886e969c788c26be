/** Judges the database's server, what is in it, and who shares it. */
import { opensProof } from "../../app/sealed-secrets.ts";
import { findUncopied, storageOf } from "../../app/services.ts";
import type { Config } from "../../config/config.ts";
import type { DatabaseServerFacts, LiveInstance } from "../../contracts/store/inspection.ts";
import { beforeFirstRelease } from "../../contracts/store/schema-number.ts";
import { isLoopbackHost } from "../../lib/loopback.ts";
import { nameServed } from "../database-name.ts";
import { describeFailure, type Finding, fail, ok, warn, within } from "./finding.ts";
import { examineInstanceUrls } from "./instances.ts";
import { judgeLostKey } from "./lost-key.ts";
import { judgeSchema } from "./schema.ts";

/** Leases and expiry compare times of several machines. */
const clockToleranceMs = 1000;
/** Each message waits for a few round trips: on this network they would be most of the time before the first text. */
const slowRoundTripMs = 20;

/** Nothing to report where the database is a file: then it is checked with the data directory. */
export async function examineDatabase(config: Config): Promise<Finding[]> {
  const { database, redisUrl, secretKey } = config;
  if (database === null) return [];
  const storage = storageOf(config);
  if (storage.inspect === undefined) throw new Error("the storage engine has no server");
  try {
    const uncopied = findUncopied(config.dataDir);
    const facts = await storage.inspect();
    return [
      ...(await judgeDatabase(facts, { database, redisUrl, secretKey, uncopied })),
      await examineInstanceUrls(config, facts.instances),
    ];
  } catch (error) {
    const advice = "Check DATABASE_URL, and that the server runs and admits this machine and user.";
    return [fail("database", `${describeFailure(error)}.`, advice)];
  }
}

type DatabaseConfig = NonNullable<Config["database"]>;

interface Settings extends Pick<Config, "redisUrl" | "secretKey"> {
  database: DatabaseConfig;
  uncopied: ReturnType<typeof findUncopied>;
}

export async function judgeDatabase(
  facts: DatabaseServerFacts,
  { database, redisUrl, secretKey, uncopied }: Settings,
): Promise<Finding[]> {
  return [
    ...judgeServer(facts, { database, uncopied }),
    ...judgeTables(facts),
    judgeTls(facts, new URL(database.url)),
    judgeClock(facts),
    judgeConnections(facts, database),
    judgeInstances(facts.instances, redisUrl !== null),
    await judgeKey(facts, secretKey),
  ];
}

function judgeContent(schema: DatabaseServerFacts["schema"]): Finding[] {
  const name = "database";
  if (schema === null) return [];
  if (schema === "unreleased") return [fail(name, beforeFirstRelease, "Name an empty database in DATABASE_URL.")];
  if (schema === "other") {
    return [fail(name, "It has tables of another program.", "Create a database for companiond alone.")];
  }
  if (!schema.isReadable) return [fail(name, "A newer version of this program has migrated it.", "Update this one.")];
  if (!schema.isUnfinishedCopy) return [];
  return [fail(name, "A copy into it was not finished.", "Run the same companiond copy again: it goes on.")];
}

function judgeServer(
  facts: DatabaseServerFacts,
  { database, uncopied }: Pick<Settings, "database" | "uncopied">,
): Finding[] {
  const name = "database";
  const { version, schema } = facts;
  const wrong: Finding[] = [];
  if (!facts.isSupported) {
    wrong.push(fail(name, `PostgreSQL ${version} is too old.`, "Use PostgreSQL 15 or later."));
  }
  if (facts.encoding !== "UTF8") {
    const advice = "Create it again: CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'.";
    wrong.push(fail(name, `Its encoding is ${facts.encoding}, which cannot hold all that visitors write.`, advice));
  }
  if (facts.isReadOnly) {
    wrong.push(fail(name, "It takes no writes.", "Name the primary server in DATABASE_URL, not a replica."));
  } else if (!facts.mayCreate) {
    const advice = "Make the user the owner of the database, or GRANT CREATE on the schema public.";
    wrong.push(fail(name, "The user of DATABASE_URL may not create tables.", advice));
  }
  wrong.push(...judgeContent(schema));
  if (wrong.length > 0 || typeof schema === "string") return wrong;
  const server = `PostgreSQL ${version} answers ${within(facts.roundTripMs)}`;
  if (schema === null) {
    if (uncopied !== null) return [fail(name, uncopied.detail, uncopied.advice)];
    const advice =
      "For a new installation start serve, which creates them. Otherwise name the right database in DATABASE_URL.";
    return [fail(name, `${server}, and there are no tables of companiond in ${nameServed(database)}.`, advice)];
  }
  if (schema.applied < schema.known) {
    const detail = `${server}, at schema ${schema.applied} of ${schema.known}.`;
    return [warn(name, detail, "Run companiond migrate, or let the next start of serve do it.")];
  }
  if (facts.roundTripMs > slowRoundTripMs) {
    return [warn(name, `${server}.`, "Move servers and database closer together: each message waits for it.")];
  }
  return [ok(name, `${server}, at schema ${schema.applied}.`)];
}

/** An unfinished copy has its own message. */
function judgeTables({ schema }: DatabaseServerFacts): Finding[] {
  return schema === null || typeof schema === "string" || schema.isUnfinishedCopy
    ? []
    : judgeSchema(schema.differences);
}

function judgeTls({ tls }: DatabaseServerFacts, url: URL): Finding {
  const name = "database TLS";
  const mode = url.searchParams.get("sslmode");
  const isNear = isLoopbackHost(url.hostname) || /^%2f/i.test(url.hostname);
  if (tls === null) {
    if (mode !== null || isNear) return ok(name, isNear ? "None is needed on this machine." : "It is switched off.");
    const detail = `The connection to ${url.hostname} is in clear text, since DATABASE_URL has no sslmode.`;
    return warn(name, detail, "Add sslmode=verify-full, or sslmode=disable if the network is yours alone.");
  }
  if (mode === "require") {
    const detail = `${tls}, but nothing proves that it is the right server.`;
    return warn(name, detail, "Use sslmode=verify-full, with sslrootcert if the certificate is of your own authority.");
  }
  return ok(name, `${tls}, verified (${mode}).`);
}

function judgeClock({ clockOffsetMs }: DatabaseServerFacts): Finding {
  const name = "database clock";
  if (Math.abs(clockOffsetMs) <= clockToleranceMs) return ok(name, "It agrees with this machine's.");
  const off = `${(Math.abs(clockOffsetMs) / 1000).toFixed(1)} s ${clockOffsetMs > 0 ? "ahead of" : "behind"}`;
  return warn(name, `It is ${off} this machine's.`, "Keep both set with NTP: expiry and quotas depend on the time.");
}

function judgeConnections({ connections, instances }: DatabaseServerFacts, database: DatabaseConfig): Finding {
  const name = "connections";
  const { most, byOthers, besidesPools } = connections;
  const each = database.pool + database.poolHeavy + besidesPools;
  const roomFor = Math.max(0, Math.floor((most - byOthers) / each));
  const detail = `An instance may open ${each}; of ${most}, others use ${byOthers}: there is room for ${roomFor} instances.`;
  const advice =
    "Raise max_connections of PostgreSQL, or lower COMPANIOND_DATABASE_POOL and COMPANIOND_DATABASE_POOL_HEAVY.";
  if (roomFor === 0) return fail(name, detail, advice);
  // One more than now: while instances are replaced, an old and a new one run side by side.
  return roomFor <= instances.length ? warn(name, detail, advice) : ok(name, detail);
}

function judgeInstances(instances: readonly LiveInstance[], hasRedis: boolean): Finding {
  const name = "instances";
  const versions = [...new Set(instances.map(({ version }) => version))].sort().join(", ");
  const alone = instances.filter(({ sharesWindows }) => !sharesWindows).length;
  if (alone > 0 && (hasRedis || instances.length > 1)) {
    const detail = `${alone} of ${instances.length} runs without REDIS_URL, and counts rates on its own: others are refused.`;
    return warn(name, detail, "Restart it with the same REDIS_URL as the others.");
  }
  if (instances.length === 0) return ok(name, "None serves this database now.");
  if (!hasRedis && instances.length > 1) {
    const advice = "Set REDIS_URL here as well.";
    return warn(name, `${instances.length} serve it with Redis, and these settings name none.`, advice);
  }
  return ok(name, `${instances.length} ${instances.length === 1 ? "serves" : "serve"} it: version ${versions}.`);
}

async function judgeKey(
  { proof, instances, ...facts }: DatabaseServerFacts,
  secretKey: string | null,
): Promise<Finding> {
  const name = "secret key";
  if (proof === null || secretKey === null) return ok(name, "Nothing in the database is sealed yet.");
  if (await opensProof(secretKey, proof)) return ok(name, "COMPANIOND_SECRET_KEY opens what is sealed.");
  const detail = "COMPANIOND_SECRET_KEY is not the key that sealed the secrets in this database.";
  if (instances.length > 0) return fail(name, detail, "Give every instance the same key: serve refuses another.");
  return (
    judgeLostKey(name, detail, facts) ??
    warn(name, detail, "Nothing is lost: serve goes on with the key that it is given.")
  );
}
