/** Settings that need, or exclude, one another. */
import type { FlagName } from "./setting.ts";

/** Checks which settings are given, not their values: a bad value is one problem, and not also a missing one. */
export function findConflicts(isGiven: (variable: string, flag?: FlagName) => boolean): string[] {
  return [...findListening(isGiven), ...findBackups(isGiven), ...findStorage(isGiven), ...findMail(isGiven)];
}

/** What is given and has no effect, as sentences. */
export function findIdle(isGiven: IsGiven): string[] {
  if (isGiven("OPENAI_API_KEY") || isGiven("OPENAI_BASE_URL")) return [];
  const idle = ["COMPANIOND_LLM_EXTRA", "COMPANIOND_LLM_HEADERS"].filter((name) => isGiven(name));
  return idle.map(
    (name) => `${name} has no effect without OPENAI_API_KEY or OPENAI_BASE_URL: it is for that provider.`,
  );
}

type IsGiven = Parameters<typeof findConflicts>[0];

function findListening(isGiven: IsGiven): string[] {
  const conflicts: string[] = [];
  const hasCert = isGiven("COMPANIOND_TLS_CERT", "tls-cert");
  const hasKey = isGiven("COMPANIOND_TLS_KEY", "tls-key");
  if (hasCert !== hasKey) conflicts.push("--tls-cert and --tls-key (COMPANIOND_TLS_…) must be given together.");
  const hasDomain = isGiven("COMPANIOND_DOMAIN", "domain");
  if (hasDomain && hasCert) {
    conflicts.push("--domain and --tls-cert exclude each other: obtain a certificate, or give your own.");
  }
  for (const name of [
    "COMPANIOND_ACME_EMAIL",
    "COMPANIOND_ACME_DIRECTORY",
    "COMPANIOND_HTTP_PORT",
    "COMPANIOND_HTTPS_PORT",
  ]) {
    if (isGiven(name) && !hasDomain) conflicts.push(`${name} needs COMPANIOND_DOMAIN: it is about its certificate.`);
  }
  return conflicts;
}

function findBackups(isGiven: IsGiven): string[] {
  const conflicts: string[] = [];
  const prefix = "COMPANIOND_BACKUP_S3_";
  if (isGiven(`${prefix}BUCKET`)) {
    for (const name of ["KEY_ID", "SECRET"]) {
      if (!isGiven(prefix + name)) conflicts.push(`${prefix}BUCKET needs ${prefix}${name}.`);
    }
    if (isGiven("DATABASE_URL")) {
      conflicts.push(`${prefix}BUCKET does not work with DATABASE_URL: back PostgreSQL up with pg_dump.`);
    }
    return conflicts;
  }
  for (const name of ["ENDPOINT", "REGION", "PREFIX", "KEY_ID", "SECRET"]) {
    if (isGiven(prefix + name)) conflicts.push(`${prefix}${name} needs ${prefix}BUCKET: which one is meant?`);
  }
  if (isGiven("COMPANIOND_BACKUP_AGE_RECIPIENT")) {
    conflicts.push(`COMPANIOND_BACKUP_AGE_RECIPIENT needs ${prefix}BUCKET: only uploads are encrypted.`);
  }
  return conflicts;
}

function findStorage(isGiven: IsGiven): string[] {
  const conflicts: string[] = [];
  if (isGiven("COMPANIOND_EMBEDDING_MODEL") && !isGiven("OPENAI_API_KEY") && !isGiven("OPENAI_BASE_URL")) {
    conflicts.push("COMPANIOND_EMBEDDING_MODEL needs OPENAI_API_KEY or OPENAI_BASE_URL: it is that provider's model.");
  }
  if (!isGiven("DATABASE_URL")) {
    if (!isGiven("REDIS_URL")) return conflicts;
    conflicts.push(
      "REDIS_URL needs DATABASE_URL: Redis only counts, and instances share everything else in PostgreSQL.",
    );
    return conflicts;
  }
  if (!isGiven("COMPANIOND_SECRET_KEY")) {
    conflicts.push("DATABASE_URL needs COMPANIOND_SECRET_KEY: all instances open the same sealed secrets with it.");
  }
  if (isGiven("COMPANIOND_BACKUP_CRON")) {
    conflicts.push("COMPANIOND_BACKUP_CRON does not work with DATABASE_URL: back PostgreSQL up with pg_dump.");
  }
  return conflicts;
}

function findMail(isGiven: IsGiven): string[] {
  const hasServer = isGiven("COMPANIOND_SMTP_URL");
  if (hasServer === isGiven("COMPANIOND_MAIL_FROM")) return [];
  return hasServer
    ? ["COMPANIOND_SMTP_URL needs COMPANIOND_MAIL_FROM: whom is mail from?"]
    : ["COMPANIOND_MAIL_FROM needs COMPANIOND_SMTP_URL: which server takes the mail?"];
}
