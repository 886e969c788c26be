/** The URLs of PostgreSQL, Redis and the mail server: what is accepted, and that nothing of a password is ever repeated. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { ConfigError, loadConfig } from "../../src/config/config.ts";

const fixture = (name: string) => join(import.meta.dir, "../fixtures/tls", name);
const secretKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const database = "postgres://app:pw@db.example/companiond";

function problemsOf(environment: Record<string, string>): string[] {
  try {
    loadConfig({ environment });
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n");
    throw error;
  }
  return [];
}

const problemsOfDatabase = (url: string) => problemsOf({ DATABASE_URL: url, COMPANIOND_SECRET_KEY: secretKey });
const problemsOfRedis = (url: string) =>
  problemsOf({ DATABASE_URL: database, COMPANIOND_SECRET_KEY: secretKey, REDIS_URL: url });

test.each([
  "postgres://db.example/companiond",
  "postgresql://app@db.example:6432/companiond",
  "postgres://app:p%40%2Fss%23@[2001:db8::1]:5432/companiond",
  "postgres://app@%2Fvar%2Frun%2Fpostgresql/companiond",
  `${database}?sslmode=disable`,
  `${database}?sslmode=require&channel_binding=require`,
  `${database}?sslmode=verify-ca`,
  `${database}?sslmode=verify-full&sslrootcert=system`,
  `${database}?sslmode=verify-full&sslrootcert=${fixture("one.cert.pem")}`,
  `${database}?sslmode=require&sslcert=${fixture("one.cert.pem")}&sslkey=${fixture("one.key.pem")}`,
])("takes DATABASE_URL=%s as it is", (url) => {
  expect(problemsOfDatabase(url)).toEqual([]);
  const config = loadConfig({ environment: { DATABASE_URL: url, COMPANIOND_SECRET_KEY: secretKey } });
  expect(config.database).toEqual({ url, pool: 10, poolHeavy: 4 });
});

test.each([
  ["mysql://app:hunter2@db.example/companiond", "must have the form postgres://USER:PASSWORD@HOST/DATABASE"],
  ["db.example/companiond", "must have the form"],
  ["postgres:db.example/companiond", "must have the form"],
  ["postgres:///companiond?host=db.example&password=hunter2", "must have the form"],
  ["postgres://app:hunter2@db.example/my database", "must have the form"],
  ["postgres://app:hunter2@one.example:1,two.example:2/companiond", "must have the form"],
  ["postgres://app:hun#ter2@db.example/companiond", "must have the form"],
  ["postgres://app:1#hunter2@db.example/companiond", "percent-encoded"],
  ["postgres://app:1/hunter2@db.example/companiond", "percent-encoded"],
  ["postgres://app:1/x?hunter2@db.example/companiond", "percent-encoded"],
  ["postgres://app:hunter2@@db.example/companiond", "percent-encoded"],
  ["postgres://app:hunter2%@db.example/companiond", "percent-encoded"],
  ["postgres://app:hunter2@db.example:0/companiond", "port 0"],
  ["postgres://app:hunter2@one.example,two.example/companiond", "one host"],
  ["postgres://app:hunter2@db.example", "must name the database"],
  ["postgres://app:hunter2@db.example/", "must name the database"],
  ["postgres://app:hunter2@db.example/a/b", "must name the database"],
])("refuses DATABASE_URL=%s without repeating it: %s", (url, reason) => {
  const [problem = "", ...others] = problemsOfDatabase(url);
  expect(others).toEqual([]);
  expect(problem).toStartWith("DATABASE_URL ");
  expect(problem).toContain(reason);
  expect(problem).not.toMatch(/hun|ter2|app|db\.example/);
});

test.each([
  ["sslmode=prefer", "must have an sslmode of disable, require, verify-ca or verify-full."],
  ["sslmode=allow", "must have an sslmode of disable, require, verify-ca or verify-full."],
  ["sslmode=Require", "must have an sslmode of disable, require, verify-ca or verify-full."],
  ["sslmode=", "must have one value for sslmode."],
  ["sslmode=require&sslmode=disable", "must have one value for sslmode."],
  ["ssl=true", "not ssl."],
  ["SSLMODE=require", "not SSLMODE."],
  ["pgbouncer=true", "not pgbouncer."],
  ["target_session_attrs=read-write", "not target_session_attrs."],
  ["hunter%32=1", "channel_binding."],
  ["sslrootcert=system", "needs sslmode=verify-full where it has sslrootcert."],
  ["sslmode=require&sslrootcert=system", "needs sslmode=verify-full where it has sslrootcert."],
  ["sslmode=verify-full&sslrootcert=/absent.pem", "names a file in sslrootcert that cannot be read."],
  [`sslmode=require&sslcert=${fixture("one.cert.pem")}`, "must have both sslcert and sslkey, or neither."],
  ["sslcert=/absent.pem&sslkey=/absent.pem", "needs an sslmode with TLS where it has sslcert."],
  ["sslmode=require&channel_binding=yes", "must have a channel_binding of disable, prefer or require."],
  ["channel_binding=require", "needs an sslmode with TLS where it requires channel_binding."],
])("refuses the parameters %s: %s", (parameters, reason) => {
  const problems = problemsOfDatabase(`${database}?${parameters}`);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toStartWith("DATABASE_URL ");
  expect(problems[0]).toEndWith(reason);
});

test("refuses TLS over a socket of this machine, where there is none", () => {
  expect(problemsOfDatabase("postgres://app@%2Ftmp/companiond?sslmode=verify-full")).toEqual([
    "DATABASE_URL cannot have an sslmode: a socket of this machine is not encrypted.",
  ]);
});

test.each([
  "redis://cache.example",
  "redis://cache.example:6380/",
  "redis://:p%40ss@[::1]/15",
  "rediss://me:pw@cache.example:6380/0",
])("takes REDIS_URL=%s as it is", (url) => {
  expect(problemsOfRedis(url)).toEqual([]);
  const environment = { DATABASE_URL: database, COMPANIOND_SECRET_KEY: secretKey, REDIS_URL: url };
  expect(loadConfig({ environment }).redisUrl).toBe(url);
});

test.each([
  ["http://:hunter2@cache.example", "must have the form redis://:PASSWORD@HOST"],
  ["cache.example:6379", "must have the form"],
  ["redis://", "must have the form"],
  ["redis://:hunter2@@cache.example", "percent-encoded"],
  ["redis://hunter2@cache.example", "has a user name but no password"],
  ["redis://:hunter2@cache.example/first", "database number"],
  ["redis://:hunter2@cache.example/1/2", "database number"],
  ["redis://:hunter2@cache.example?db=1", "question mark"],
  ["rediss://:hunter2@cache.example/1?rejectUnauthorized=false", "question mark"],
])("refuses REDIS_URL=%s without repeating it: %s", (url, reason) => {
  const [problem = "", ...others] = problemsOfRedis(url);
  expect(others).toEqual([]);
  expect(problem).toStartWith("REDIS_URL ");
  expect(problem).toContain(reason);
  expect(problem).not.toMatch(/hunter2|cache\.example/);
});

test("says which settings need or exclude one another", () => {
  expect(problemsOf({ REDIS_URL: "redis://cache.example" })).toEqual([
    "REDIS_URL needs DATABASE_URL: Redis only counts, and instances share everything else in PostgreSQL.",
  ]);
  expect(problemsOf({ DATABASE_URL: database, COMPANIOND_BACKUP_CRON: "0 3 * * *" })).toEqual([
    "DATABASE_URL needs COMPANIOND_SECRET_KEY: all instances open the same sealed secrets with it.",
    "COMPANIOND_BACKUP_CRON does not work with DATABASE_URL: back PostgreSQL up with pg_dump.",
  ]);
});

test("counts a bad URL as one problem, not also as a missing one", () => {
  const problems = problemsOf({ DATABASE_URL: "x", REDIS_URL: "redis://cache.example", COMPANIOND_SECRET_KEY: "y" });
  expect(problems).toEqual([
    expect.stringContaining("COMPANIOND_SECRET_KEY must be"),
    expect.stringContaining("DATABASE_URL must have the form"),
  ]);
});

test("counts empty URLs as unset", () => {
  const config = loadConfig({ environment: { DATABASE_URL: "", REDIS_URL: "", COMPANIOND_BACKUP_CRON: "0 3 * * *" } });
  expect([config.database, config.redisUrl]).toEqual([null, null]);
});

const mailFrom = "Shop <chat@shop.example>";
const problemsOfMail = (url: string) => problemsOf({ COMPANIOND_SMTP_URL: url, COMPANIOND_MAIL_FROM: mailFrom });

test.each([
  ["smtps://mail.example", { host: "mail.example", port: 465, tls: "implicit", signIn: null }],
  [
    "smtp://chat%40shop.example:p%2Fw%25@mail.example",
    { host: "mail.example", port: 587, tls: "starttls", signIn: { user: "chat@shop.example", password: "p/w%" } },
  ],
  ["smtp://localhost:1025", { host: "localhost", port: 1025, tls: "none needed", signIn: null }],
  ["smtp://[::1]:25/", { host: "::1", port: 25, tls: "none needed", signIn: null }],
] as const)("reads COMPANIOND_SMTP_URL=%s", (url, server) => {
  const config = loadConfig({ environment: { COMPANIOND_SMTP_URL: url, COMPANIOND_MAIL_FROM: mailFrom } });
  expect(config.mail).toEqual({ server, from: { name: "Shop", address: "chat@shop.example" } });
});

test.each([
  ["https://mail.example", "must have the form smtps://USER:PASSWORD@HOST"],
  ["mail.example:465", "must have the form"],
  ["smtps://chat@shop.example:hunter2@mail.example", "percent-encoded"],
  ["smtps://chat:hunter2%@mail.example", "percent-encoded"],
  ["smtps://chat:hunter2@mail.example:0", "port 0"],
  ["smtps://chat:hunter2@mail.example/?pool=true", "must end after the host and port"],
  ["smtps://chat@mail.example", "both user and password"],
])("refuses COMPANIOND_SMTP_URL=%s without repeating it: %s", (url, reason) => {
  const problems = problemsOfMail(url);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(`COMPANIOND_SMTP_URL ${reason.startsWith("must") ? reason : ""}`.trim());
  expect(problems[0]).toContain(reason);
  expect(problems[0]).not.toMatch(/hunter2|shop/);
});

test.each([
  ["chat@shop.example", { name: "", address: "chat@shop.example" }],
  ['"Shop, Ltd." <chat@shop.example>', { name: "Shop, Ltd.", address: "chat@shop.example" }],
])("reads COMPANIOND_MAIL_FROM=%s", (text, from) => {
  const environment = { COMPANIOND_SMTP_URL: "smtps://mail.example", COMPANIOND_MAIL_FROM: text };
  expect(loadConfig({ environment }).mail?.from).toEqual(from);
});

test.each(["shop", "Shop <>", "Shop <chat>", "<a@b.example>, c@d.example", "Shop\n<chat@shop.example>"])(
  "refuses COMPANIOND_MAIL_FROM=%s",
  (text) => {
    expect(problemsOf({ COMPANIOND_SMTP_URL: "smtps://mail.example", COMPANIOND_MAIL_FROM: text })).toHaveLength(1);
  },
);

test("refuses a mail server without a sender, and a sender without a mail server", () => {
  expect(problemsOf({ COMPANIOND_SMTP_URL: "smtps://mail.example" })).toEqual([
    "COMPANIOND_SMTP_URL needs COMPANIOND_MAIL_FROM: whom is mail from?",
  ]);
  expect(problemsOf({ COMPANIOND_MAIL_FROM: mailFrom })).toEqual([
    "COMPANIOND_MAIL_FROM needs COMPANIOND_SMTP_URL: which server takes the mail?",
  ]);
  expect(loadConfig({ environment: {} }).mail).toBeNull();
});
