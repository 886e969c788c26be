/** What operators set: secrets, metrics, the database, backups and the log. */
import type { TotpRequirement } from "../domain/second-factor.ts";
import type { LogLevel } from "../lib/log.ts";
import { ageRecipient, keyPrefix, releasesKey, releasesUrl } from "./operator-values.ts";
import { databaseUrl, redisUrl } from "./server-urls.ts";
import { optional, plain, type Setting } from "./setting.ts";
import {
  baseUrl,
  cronSchedule,
  oneOf,
  originUrl,
  path,
  portNumber,
  sealingKey,
  secret,
  wholeNumber,
  word,
} from "./values.ts";

const connections = wholeNumber(1, 1000);
const totpRequirements = ["none", "operators", "all"] as const;
const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

export const operationSettings = {
  secretKey: optional({
    variable: "COMPANIOND_SECRET_KEY",
    isSecret: true,
    parse: sealingKey,
    about:
      "Seals secrets in the database: 32 bytes in base64. Without it, kept in secret.key in the data directory; required " +
      "with DATABASE_URL.",
  }),
  requireTotp: plain<TotpRequirement>(
    "COMPANIOND_REQUIRE_TOTP",
    "none",
    oneOf(totpRequirements),
    "Who must have a second factor to use the dashboard: none, operators or all.",
  ),
  metricsToken: optional({
    variable: "COMPANIOND_METRICS_TOKEN",
    isSecret: true,
    parse: secret,
    about: "Opens GET /metrics to whoever sends it as a Bearer token.",
  }),
  metricsPort: optional({
    variable: "COMPANIOND_METRICS_PORT",
    parse: portNumber,
    about: "Serves /metrics without a token on this loopback port of its own; 0 takes a free one.",
  }),
  databaseUrl: optional({
    variable: "DATABASE_URL",
    isSecret: true,
    parse: databaseUrl,
    about: "A PostgreSQL database that instances share, postgres://…; without it, the data is in the data directory.",
  }),
  redisUrl: optional({
    variable: "REDIS_URL",
    isSecret: true,
    parse: redisUrl,
    about: "Where instances count rates and failed sign-ins together, redis://… or rediss://…; needs DATABASE_URL.",
  }),
  instanceUrl: optional({
    variable: "COMPANIOND_INSTANCE_URL",
    parse: originUrl,
    about: "Where the other instances reach this one; without it, the address that it listens on.",
  }),
  databasePool: plain(
    "COMPANIOND_DATABASE_POOL",
    10,
    connections,
    "Connections of each instance to PostgreSQL for quick queries.",
  ),
  databasePoolHeavy: plain(
    "COMPANIOND_DATABASE_POOL_HEAVY",
    4,
    connections,
    "The same for lists, exports and other long queries.",
  ),
  backupCron: optional({
    variable: "COMPANIOND_BACKUP_CRON",
    parse: cronSchedule,
    about: 'When to back up by itself: five cron fields, local time, such as "0 3 * * *". Not with DATABASE_URL.',
  }),
  backupDir: optional({
    variable: "COMPANIOND_BACKUP_DIR",
    parse: path,
    about: "Where scheduled backups go; without it, backups/ in the data directory.",
  }),
  backupKeep: plain("COMPANIOND_BACKUP_KEEP", 7, wholeNumber(1, 100_000), "How many scheduled backups are kept."),
  backupS3Endpoint: optional({
    variable: "COMPANIOND_BACKUP_S3_ENDPOINT",
    parse: baseUrl,
    about: "The address of the S3-compatible storage that backups are also uploaded to; without it, that of AWS.",
  }),
  backupS3Region: optional({
    variable: "COMPANIOND_BACKUP_S3_REGION",
    parse: word,
    about: "The region of that storage; without it, what the storage takes for its default.",
  }),
  backupS3Bucket: optional({
    variable: "COMPANIOND_BACKUP_S3_BUCKET",
    parse: word,
    about: "The bucket. Backups leave the machine if it is set.",
  }),
  backupS3Prefix: optional({
    variable: "COMPANIOND_BACKUP_S3_PREFIX",
    parse: keyPrefix,
    about: "What the names of backups in the bucket begin with, such as companiond/.",
  }),
  backupS3KeyId: optional({
    variable: "COMPANIOND_BACKUP_S3_KEY_ID",
    isSecret: true,
    parse: secret,
    about: "The access key's id.",
  }),
  backupS3Secret: optional({
    variable: "COMPANIOND_BACKUP_S3_SECRET",
    isSecret: true,
    parse: secret,
    about: "The access key's secret.",
  }),
  backupAgeRecipient: optional({
    variable: "COMPANIOND_BACKUP_AGE_RECIPIENT",
    parse: ageRecipient,
    about: "Encrypt uploaded backups to this age public key (age1…); only its identity opens them.",
  }),
  releasesUrl: optional({
    variable: "COMPANIOND_RELEASES_URL",
    parse: releasesUrl,
    about: "Where companiond update looks for releases: /latest.json below it.",
  }),
  releasesKey: optional({
    variable: "COMPANIOND_RELEASES_KEY",
    parse: releasesKey,
    about: "The Ed25519 public key that releases are signed with (base64), in place of the one in the executable.",
  }),
  logLevel: plain<LogLevel>("COMPANIOND_LOG", "info", oneOf(levels), "debug, info, warn or error."),
} satisfies Record<string, Setting<unknown>>;
