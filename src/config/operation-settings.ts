/** What operators set: secrets, metrics, the database, backups and the log. */
import type { TotpRequirement } from "../domain/second-factor.ts";
import { ageRecipient, keyPrefix, mailSender, releasesKey, releasesUrl } from "./operator-values.ts";
import { databaseUrl, redisUrl, smtpUrl } from "./server-urls.ts";
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

export const accountSettings = {
  requireTotp: plain<TotpRequirement>(
    "COMPANIOND_REQUIRE_TOTP",
    "none",
    oneOf(totpRequirements),
    "Who must have a second factor to use the dashboard: none, operators or all.",
  ),
  secretKey: optional({
    variable: "COMPANIOND_SECRET_KEY",
    isSecret: true,
    parse: sealingKey,
    about:
      "Encrypts secrets in the database: 32 bytes in base64 (openssl rand -base64 32). Without it, a key is created in " +
      "secret.key in the data directory; with DATABASE_URL it is required. Back it up separately from the database: " +
      "without it, those secrets are lost.",
  }),
} satisfies Record<string, Setting<unknown>>;

export const sharedSettings = {
  databaseUrl: optional({
    variable: "DATABASE_URL",
    isSecret: true,
    parse: databaseUrl,
    about:
      "A PostgreSQL database (15 or later) that all instances share: " +
      "postgres://USER:PASSWORD@HOST/DATABASE?sslmode=verify-full. Special characters in the password are " +
      "percent-encoded. Needs COMPANIOND_SECRET_KEY. Without it, everything is in the data directory and there is one " +
      "instance.",
  }),
  redisUrl: optional({
    variable: "REDIS_URL",
    isSecret: true,
    parse: redisUrl,
    about:
      "Where the instances count rates and failed sign-ins together: redis://:PASSWORD@HOST, or rediss:// with TLS; a " +
      "database number may follow. Needs DATABASE_URL; without it, PostgreSQL serves one instance.",
  }),
  instanceUrl: optional({
    variable: "COMPANIOND_INSTANCE_URL",
    parse: originUrl,
    about:
      "Where the other instances reach this one, for replies that run here: http://10.0.0.11:3000, past the proxy. " +
      "Without it, the address that it listens on, or this machine's first one if it listens on all. https only for a " +
      "name that the certificate is for. Not used without DATABASE_URL.",
  }),
  databasePool: plain(
    "COMPANIOND_DATABASE_POOL",
    10,
    connections,
    "Each instance's connections to PostgreSQL for quick queries.",
  ),
  databasePoolHeavy: plain(
    "COMPANIOND_DATABASE_POOL_HEAVY",
    4,
    connections,
    "The same for lists, exports and other long queries.",
  ),
} satisfies Record<string, Setting<unknown>>;

export const mailSettings = {
  smtpUrl: optional({
    variable: "COMPANIOND_SMTP_URL",
    isSecret: true,
    parse: smtpUrl,
    about:
      "The server that takes mail: smtps://USER:PASSWORD@HOST (port 465), or smtp:// (port 587) with STARTTLS, which is required " +
      "but on this machine. Special characters of user and password are percent-encoded. Without it, no mail is sent.",
  }),
  mailFrom: optional({
    variable: "COMPANIOND_MAIL_FROM",
    parse: mailSender,
    about: "Whom mail is from: an address, or Name <address>. Needed with COMPANIOND_SMTP_URL.",
  }),
} satisfies Record<string, Setting<unknown>>;

export const operationSettings = {
  metricsToken: optional({
    variable: "COMPANIOND_METRICS_TOKEN",
    isSecret: true,
    parse: secret,
    about: "The bearer token for GET /metrics.",
  }),
  metricsPort: optional({
    variable: "COMPANIOND_METRICS_PORT",
    parse: portNumber,
    about: "Serves /metrics without a token on a separate loopback port; 0 chooses a free one.",
  }),
  backupCron: optional({
    variable: "COMPANIOND_BACKUP_CRON",
    parse: cronSchedule,
    about:
      'The schedule of automatic backups: five cron fields, local time, such as "0 3 * * *". Not with DATABASE_URL: ' +
      "PostgreSQL has its own tools.",
  }),
  backupDir: optional({
    variable: "COMPANIOND_BACKUP_DIR",
    parse: path,
    about: "The directory for scheduled backups; without it, backups/ in the data directory.",
  }),
  backupKeep: plain("COMPANIOND_BACKUP_KEEP", 7, wholeNumber(1, 100_000), "How many scheduled backups are kept."),
  backupS3Bucket: optional({
    variable: "COMPANIOND_BACKUP_S3_BUCKET",
    parse: word,
    about: "Backups are also uploaded to this bucket of an S3-compatible storage.",
  }),
  backupS3Endpoint: optional({
    variable: "COMPANIOND_BACKUP_S3_ENDPOINT",
    parse: baseUrl,
    about: "The address of that storage; without it, AWS.",
  }),
  backupS3Region: optional({
    variable: "COMPANIOND_BACKUP_S3_REGION",
    parse: word,
    about: "The region of that storage; without it, the storage's default.",
  }),
  backupS3Prefix: optional({
    variable: "COMPANIOND_BACKUP_S3_PREFIX",
    parse: keyPrefix,
    about: "The prefix of the backups' names in the bucket, such as companiond/.",
  }),
  backupS3KeyId: optional({
    variable: "COMPANIOND_BACKUP_S3_KEY_ID",
    isSecret: true,
    parse: secret,
    about: "The ID of the storage's access key.",
  }),
  backupS3Secret: optional({
    variable: "COMPANIOND_BACKUP_S3_SECRET",
    isSecret: true,
    parse: secret,
    about: "The secret of the storage's access key.",
  }),
  backupAgeRecipient: optional({
    variable: "COMPANIOND_BACKUP_AGE_RECIPIENT",
    parse: ageRecipient,
    about:
      "Uploaded backups are encrypted to this age public key (age1…). Keep its identity elsewhere: nothing else opens them.",
  }),
  releasesUrl: optional({
    variable: "COMPANIOND_RELEASES_URL",
    parse: releasesUrl,
    about: "Where companiond update looks for releases: /latest.json below it.",
  }),
  releasesKey: optional({
    variable: "COMPANIOND_RELEASES_KEY",
    parse: releasesKey,
    about: "The Ed25519 public key that releases are signed with (base64), instead of the one in the executable.",
  }),
} satisfies Record<string, Setting<unknown>>;
