/** What is checked of settings and of what they name: by a running server for its own, otherwise by the command. */
import { existsSync } from "node:fs";
import { checkProviders } from "../../app/provider-checks.ts";
import { findKeyProblem, nameKey } from "../../app/sealed-secrets.ts";
import { storageOf } from "../../app/services.ts";
import type { Config } from "../../config/config.ts";
import { MailFailure } from "../../contracts/mail.ts";
import type { StoredFacts } from "../../contracts/store/inspection.ts";
import { writeMadeAt } from "../../core/backups/names.ts";
import { findConfinement } from "../../core/knowledge/reading/reader.ts";
import { AppError } from "../../domain/errors.ts";
import type { Finding, SelfCheck } from "../../domain/finding.ts";
import { askStorage } from "../storage-task.ts";
import { describeUnconfined } from "../warnings.ts";
import { examineAuthority, examineDomains } from "./certificates.ts";
import { examineDatabase } from "./database.ts";
import { describeFailure, fail, off, ok, warn, within } from "./finding.ts";
import { judgeLostKey } from "./lost-key.ts";
import { examineShutdownDates } from "./models.ts";
import { examineCertificate, examineProxy, examinePublicUrl } from "./network.ts";
import { examineClock, examineEmbeddings, examineLlm, examinePrices, examineVoice } from "./providers.ts";

/** What only the server knows that runs with the settings. */
export interface SeenByServer {
  /** When the certificate that it has loaded ends; null without one. */
  servedUntilMs: number | null;
  untrustedForwards: number;
}

/** `seen` is null where no running server is asked. */
export function listChecks(config: Config, nowMs: number, seen: SeenByServer | null): SelfCheck[] {
  const servedUntilMs = seen?.servedUntilMs ?? null;
  return [
    { name: "configuration", check: () => examineNames(config) },
    { name: "backups off the machine", check: () => examineBackupStorage(config) },
    { name: "database", check: () => examineDatabase(config) },
    { name: "secret key", check: () => examineKey(config) },
    { name: "redis", check: () => examineRedis(config) },
    { name: "clock", check: () => examineClock(config, nowMs) },
    { name: "certificate", check: () => examineCertificate(config, nowMs, servedUntilMs) },
    { name: "authority", check: () => examineAuthority(config, nowMs) },
    { name: "domain", check: () => examineDomains(config) },
    { name: "proxy headers", check: () => examineProxy(config, seen?.untrustedForwards) },
    { name: "public URL", check: () => examinePublicUrl(config) },
    { name: "language model", check: () => examineLlm(config) },
    { name: "model", check: () => examineShutdownDates(config, nowMs) },
    { name: "embeddings", check: () => examineEmbeddings(config) },
    { name: "prices", check: () => examinePrices(config) },
    { name: "voice provider", check: () => examineVoice(config) },
    { name: "mail", check: () => examineMail(config) },
    { name: "documents", check: examineReading },
  ];
}

export async function runChecks(checks: readonly SelfCheck[]): Promise<Finding[]> {
  const found = await Promise.all(
    checks.map(async ({ name, check }) => {
      try {
        return await check();
      } catch (error) {
        // A check that cannot run must not hide the others.
        return fail(name, `It could not be checked: ${describeFailure(error)}.`, "See the reason given.");
      }
    }),
  );
  return found.flat();
}

/** Reports which variables are set and have no effect; of settings that are wrong there is nothing to examine. */
function examineNames({ warnings }: Pick<Config, "warnings">): Finding[] {
  const name = "configuration";
  if (warnings.length === 0) return [ok(name, "All settings are valid.")];
  return warnings.map((sentence) => warn(name, sentence, "Remove it, unless another program needs it here."));
}

const readingLimitMs = 10_000;

/** Checks that documents can be read, and whether the process that reads them is confined. */
async function examineReading(): Promise<Finding> {
  const name = "documents";
  try {
    if (await findConfinement(AbortSignal.timeout(readingLimitMs))) {
      return ok(name, "They are read in a process without network and files.");
    }
  } catch {
    return fail(
      name,
      "They cannot be read: the process for it does not start.",
      "Check the limits on processes and memory of this user.",
    );
  }
  const { why, advice } = describeUnconfined();
  return warn(name, `They are read in a process without confinement: ${why}.`, advice);
}

/** Each request waits for one round trip. */
const slowRoundTripMs = 10;

/**
 * Checks the Redis in which instances count rates and failed sign-ins together. Nothing to report where the database is
 * a file: then there is one server, which counts in memory.
 */
export async function examineRedis(
  { database, redisUrl }: Pick<Config, "database" | "redisUrl">,
  check: typeof checkProviders.redis = checkProviders.redis,
): Promise<Finding[]> {
  const name = "redis";
  if (database === null) return [];
  if (redisUrl === null) return [off(name, "None is configured: PostgreSQL serves one instance.")];
  try {
    const { server, roundTripMs, warning } = await check(redisUrl);
    const detail = `${server} answers ${within(roundTripMs)}.`;
    if (warning !== null) return [warn(name, detail, warning)];
    if (roundTripMs <= slowRoundTripMs) return [ok(name, detail)];
    return [warn(name, detail, "Move it closer to the servers: each request waits for it.")];
  } catch (error) {
    const advice =
      "Fix this first: serve does not start without Redis. Meanwhile, running instances count on their own.";
    return [fail(name, error instanceof AppError ? error.message : `${describeFailure(error)}.`, advice)];
  }
}

/** Signs in to the mail server, and sends nothing. Nothing to report where no mail is sent. */
export async function examineMail(config: Pick<Config, "mail">): Promise<Finding[]> {
  const name = "mail";
  try {
    const found = await checkProviders.mail(config);
    return found === null ? [] : [ok(name, found)];
  } catch (error) {
    const advice = error instanceof MailFailure ? error.advice : "Check COMPANIOND_SMTP_URL.";
    return [fail(name, `${describeFailure(error)}.`, advice)];
  }
}

/**
 * Checks whether the key is there that opens what is sealed in a database of the data directory. Of PostgreSQL, the
 * check of the database reports it: there it is also a matter between servers.
 */
async function examineKey(config: Config): Promise<Finding[]> {
  const facts = findSealed(config);
  return facts === null ? [] : [await judge(config, facts)];
}

async function judge(config: Config, { proof, ...facts }: StoredFacts): Promise<Finding> {
  const name = "secret key";
  const source = nameKey(config);
  if (proof === null && config.secretKey === null && !existsSync(source)) {
    return ok(name, "Nothing in the database is sealed yet.");
  }
  const problem = await findKeyProblem(config, proof);
  if (problem === null) {
    return ok(
      name,
      proof === null ? `${source} will seal secrets; none is sealed yet.` : `${source} opens what is sealed.`,
    );
  }
  const detail = `The secrets in the database cannot be opened: ${problem}.`;
  return (
    judgeLostKey(name, detail, facts) ??
    warn(name, detail, "Nothing is lost, since nothing is sealed; but serve needs a key that it can read.")
  );
}

/** Null where there is nothing to judge: why the database cannot be read is reported by its own check. */
function findSealed(config: Config): StoredFacts | null {
  try {
    return storageOf(config).inspectStored?.() ?? null;
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

/** A caller that asks a running server waits for all of its checks together. */
const storageLimitMs = 20_000;

/** Checks the storage to which backups are uploaded: whether it can be listed, and when the last one arrived. */
async function examineBackupStorage(config: Config): Promise<Finding[]> {
  const name = "backups off the machine";
  const { cron, storage } = config.backup;
  if (config.database !== null) return [];
  if (storage === null) {
    // The check of backups reports that none are scheduled.
    if (cron === null) return [];
    return [off(name, "None are uploaded. Copy them elsewhere by other means, or set COMPANIOND_BACKUP_S3_BUCKET.")];
  }
  try {
    const asked = { ageRecipient: storage.ageRecipient };
    const [newest, ...older] = await askStorage(undefined, storage, "list", asked, storageLimitMs);
    const encryption = storage.ageRecipient === null ? "Uploads are not encrypted." : "Uploads are encrypted with age.";
    if (newest === undefined) {
      const advice = "Upload one now, to see that it works: companiond backup s3:";
      return [warn(name, `The storage answers, and holds no backup yet. ${encryption}`, advice)];
    }
    const made = `The newest of ${older.length + 1} is of ${writeMadeAt(newest.name)}.`;
    return [ok(name, `${made} ${encryption}`)];
  } catch (error) {
    return [fail(name, `${describeFailure(error)}.`, "Backups stay on this machine until this is fixed.")];
  }
}
