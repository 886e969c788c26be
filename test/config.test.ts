/** How flags, variables and the env file become the configuration. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { renderEnvExample } from "../scripts/env-example.ts";
import { type Config, ConfigError, type ConfigSources, loadConfig } from "../src/config/config.ts";

const dir = mkdtempSync(join(tmpdir(), "companiond-config-"));
afterAll(() => rmSync(dir, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(dir, name);
  writeFileSync(path, content);
  return path;
}

function load(environment: Record<string, string>, more: Omit<ConfigSources, "environment"> = {}): Config {
  return loadConfig({ environment, ...more });
}

function problemsOf(environment: Record<string, string>, more: Omit<ConfigSources, "environment"> = {}): string[] {
  try {
    load(environment, more);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n");
    throw error;
  }
  return [];
}

test("has the documented defaults where nothing is set", () => {
  const dataDir = resolve("companiond-data");
  expect(load({})).toEqual({
    server: { host: "127.0.0.1", port: 3000, tls: null, acme: null, trustProxy: 0 },
    dataDir,
    database: null,
    redisUrl: null,
    instanceUrl: null,
    publicUrl: null,
    isDemo: false,
    llm: {
      apiKey: null,
      baseUrl: null,
      model: "gpt-6-luna",
      models: ["gpt-6-luna"],
      maxOutputTokens: 4096,
      maxContextTokens: 200_000,
      embeddingModel: null,
      api: "auto",
      reasoningEffort: null,
      reasoningTokens: 8192,
      extra: {},
      headers: {},
      providersFile: null,
      providers: [],
      aliases: {},
    },
    prices: { tokens: [], minutes: [] },
    voice: { apiKey: null, baseUrl: "https://api.elevenlabs.io", webhookSecret: null },
    knowledge: { privateSources: [] },
    privateTargets: [],
    rates: {
      ...{ ratePerToken: { free: 30, paid: 30 }, ratePerIp: 10, ratePerKey: 600, chatRatePerKey: 600, asksPerIp: 20 },
      ...{ configRatePerToken: null, configRatePerIp: null, liveRatePerIp: 60 },
    },
    streamsPerIp: 20,
    live: { perAddress: 40, maxStreams: 10_000 },
    messagesPerDay: { free: 1000, paid: 10_000 },
    voiceSessionsPerDay: { free: 200, paid: 2000 },
    holdings: {
      free: { companions: 10_000, keys: 100, tokensPerCompanion: 20, members: 5, bytes: 1024 ** 3 },
      paid: { companions: 1_000_000, keys: 1000, tokensPerCompanion: 100, members: 100, bytes: 100 * 1024 ** 3 },
    },
    secretKey: null,
    requireTotp: "none",
    mail: null,
    metrics: { token: null, port: null },
    backup: { cron: null, dir: join(dataDir, "backups"), keep: 7, storage: null },
    releases: { url: null, key: null },
    log: { level: "info" },
    warnings: [],
    given: [],
    supervisor: { notifySocket: null, watchdogMs: null, journalStream: null },
  });
});

test("takes every variable", () => {
  const config = load({
    HOST: "::",
    PORT: "8080",
    COMPANIOND_DATA_DIR: "/var/lib/companiond",
    COMPANIOND_PUBLIC_URL: "https://Chat.Example.com:443/",
    OPENAI_API_KEY: "sk-1",
    OPENAI_BASE_URL: "http://127.0.0.1:11434/v1/",
    COMPANIOND_MODEL: "llama3",
    COMPANIOND_MODELS: "qwen3, llama3 ,mistral/large",
    COMPANIOND_MAX_OUTPUT_TOKENS: "512",
    COMPANIOND_MAX_CONTEXT_TOKENS: "32000",
    COMPANIOND_LLM_API: "responses",
    COMPANIOND_REASONING_EFFORT: "low",
    COMPANIOND_REASONING_TOKENS: "20",
    COMPANIOND_LLM_EXTRA: '{"reasoning_effort":"minimal"}',
    COMPANIOND_LLM_HEADERS: '{"X-Team":"support"}',
    COMPANIOND_PROVIDERS_FILE: file("every.json", '{"providers":[{"name":"own","base_url":"http://127.0.0.1:1/v1"}]}'),
    COMPANIOND_PRICES: '{"llama3":{"input":0.1,"output":2}}',
    ELEVENLABS_API_KEY: "xi-1",
    ELEVENLABS_BASE_URL: "http://127.0.0.1:1234",
    ELEVENLABS_WEBHOOK_SECRET: "wsec_1",
    COMPANIOND_TRUST_PROXY: "2",
    COMPANIOND_EMBEDDING_MODEL: "embed-1",
    COMPANIOND_PRIVATE_SOURCES: "Wiki.internal:8080, 10.1.0.0/16",
    COMPANIOND_PRIVATE_TARGETS: "crm.internal",
    COMPANIOND_RATE_PER_TOKEN: "1",
    COMPANIOND_RATE_PER_IP: "2",
    COMPANIOND_CONFIG_RATE_PER_TOKEN: "20",
    COMPANIOND_CONFIG_RATE_PER_IP: "21",
    COMPANIOND_LIVE_RATE_PER_IP: "22",
    COMPANIOND_LIVE_PER_IP: "23",
    COMPANIOND_LIVE_STREAMS: "24",
    COMPANIOND_RATE_PER_KEY: "3",
    COMPANIOND_CHAT_RATE_PER_KEY: "5",
    COMPANIOND_DAILY_FREE: "4",
    COMPANIOND_DAILY_PAID: "5",
    COMPANIOND_RATE_PER_TOKEN_PAID: "6",
    COMPANIOND_STREAMS_PER_IP: "7",
    COMPANIOND_DAILY_VOICE_FREE: "8",
    COMPANIOND_DAILY_VOICE_PAID: "9",
    COMPANIOND_MAX_COMPANIONS_FREE: "10",
    COMPANIOND_MAX_COMPANIONS_PAID: "11",
    COMPANIOND_MAX_KEYS_FREE: "12",
    COMPANIOND_MAX_KEYS_PAID: "13",
    COMPANIOND_MAX_TOKENS_FREE: "14",
    COMPANIOND_MAX_TOKENS_PAID: "15",
    COMPANIOND_MAX_MEMBERS_FREE: "18",
    COMPANIOND_MAX_MEMBERS_PAID: "19",
    COMPANIOND_MAX_BYTES_FREE: "16MiB",
    COMPANIOND_MAX_BYTES_PAID: "17",
    COMPANIOND_SECRET_KEY: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    COMPANIOND_REQUIRE_TOTP: "all",
    COMPANIOND_SMTP_URL: "smtp://mailer:pw@mail.example:2525",
    COMPANIOND_MAIL_FROM: "Shop <chat@shop.example>",
    COMPANIOND_METRICS_TOKEN: "m",
    COMPANIOND_METRICS_PORT: "9090",
    DATABASE_URL: "postgres://app:pw@db.example/companiond",
    REDIS_URL: "rediss://:pw@cache.example/2",
    COMPANIOND_DATABASE_POOL: "18",
    COMPANIOND_INSTANCE_URL: "http://10.0.0.11:3000/",
    COMPANIOND_DATABASE_POOL_HEAVY: "19",
    COMPANIOND_BACKUP_DIR: "/backups",
    COMPANIOND_BACKUP_KEEP: "14",
    COMPANIOND_LOG: "debug",
  });
  expect(config).toEqual({
    server: { host: "::", port: 8080, tls: null, acme: null, trustProxy: 2 },
    dataDir: "/var/lib/companiond",
    database: { url: "postgres://app:pw@db.example/companiond", pool: 18, poolHeavy: 19 },
    redisUrl: "rediss://:pw@cache.example/2",
    instanceUrl: "http://10.0.0.11:3000",
    publicUrl: "https://chat.example.com",
    isDemo: false,
    llm: {
      apiKey: "sk-1",
      baseUrl: "http://127.0.0.1:11434/v1",
      model: "llama3",
      models: ["llama3", "qwen3", "mistral/large"],
      maxOutputTokens: 512,
      maxContextTokens: 32_000,
      embeddingModel: "embed-1",
      api: "responses",
      reasoningEffort: "low",
      reasoningTokens: 20,
      extra: { reasoning_effort: "minimal" },
      headers: { "X-Team": "support" },
      providersFile: join(dir, "every.json"),
      providers: [
        {
          name: "own",
          baseUrl: "http://127.0.0.1:1/v1",
          apiKey: null,
          keyFile: null,
          models: [],
          extra: {},
          headers: {},
          api: "auto",
          reasoningEffort: null,
        },
      ],
      aliases: {},
    },
    prices: {
      tokens: [
        {
          provider: null,
          model: "llama3",
          price: { input: 100_000, cachedInput: 100_000, cacheWrite: 100_000, output: 2_000_000 },
        },
      ],
      minutes: [],
    },
    voice: { apiKey: "xi-1", baseUrl: "http://127.0.0.1:1234", webhookSecret: "wsec_1" },
    knowledge: {
      privateSources: [
        { kind: "host", host: "wiki.internal", port: 8080 },
        { kind: "range", range: { version: 4, groups: [0, 0, 0, 0, 0, 0xffff, 0x0a01, 0], prefixBits: 112 } },
      ],
    },
    privateTargets: [{ kind: "host", host: "crm.internal", port: null }],
    rates: {
      ...{ ratePerToken: { free: 1, paid: 6 }, ratePerIp: 2, ratePerKey: 3, chatRatePerKey: 5, asksPerIp: 20 },
      ...{ configRatePerToken: 20, configRatePerIp: 21, liveRatePerIp: 22 },
    },
    streamsPerIp: 7,
    live: { perAddress: 23, maxStreams: 24 },
    messagesPerDay: { free: 4, paid: 5 },
    voiceSessionsPerDay: { free: 8, paid: 9 },
    holdings: {
      free: { companions: 10, keys: 12, tokensPerCompanion: 14, members: 18, bytes: 16 * 1024 ** 2 },
      paid: { companions: 11, keys: 13, tokensPerCompanion: 15, members: 19, bytes: 17 },
    },
    secretKey: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    requireTotp: "all",
    mail: {
      server: { host: "mail.example", port: 2525, tls: "starttls", signIn: { user: "mailer", password: "pw" } },
      from: { name: "Shop", address: "chat@shop.example" },
    },
    metrics: { token: "m", port: 9090 },
    backup: { cron: null, dir: "/backups", keep: 14, storage: null },
    releases: { url: null, key: null },
    log: { level: "debug" },
    warnings: [],
    given: expect.arrayContaining([{ name: "COMPANIOND_LOG", source: "environment" }]),
    supervisor: { notifySocket: null, watchdogMs: null, journalStream: null },
  });
});

test("knows what was given and where, without the values, and what systemd says of itself", () => {
  const envFilePath = file("given.env", "OPENAI_API_KEY=sk-secret\nCOMPANIOND_LOG=debug\n");
  const keyFile = file("given.key", "the-token");
  const { given, supervisor } = load(
    {
      ...{ COMPANIOND_LOG: "warn", COMPANIOND_METRICS_TOKEN_FILE: keyFile, PORT: "1" },
      ...{
        NOTIFY_SOCKET: "@abstract",
        WATCHDOG_USEC: "30000000",
        WATCHDOG_PID: String(process.pid),
        JOURNAL_STREAM: "8:9",
      },
    },
    { envFilePath, flags: { port: "0", demo: true } },
  );
  expect(given).toEqual([
    { name: "--port", source: "command line" },
    { name: "--demo", source: "command line" },
    { name: "COMPANIOND_LOG", source: "environment" },
    { name: "OPENAI_API_KEY", source: "env file" },
    { name: "COMPANIOND_METRICS_TOKEN_FILE", source: "environment" },
  ]);
  expect(supervisor).toEqual({ notifySocket: "@abstract", watchdogMs: 30_000, journalStream: "8:9" });
  const ofAnother = load({ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "1" }, { envFilePath });
  expect(ofAnother.supervisor).toEqual({ notifySocket: null, watchdogMs: null, journalStream: null });
});

test("takes a schedule for backups", () => {
  expect(load({ COMPANIOND_BACKUP_CRON: "0 3 * * *" }).backup.cron).toBe("0 3 * * *");
});

test("takes domains, which decide where it listens and what its public URL is", () => {
  const { server, publicUrl } = load({ COMPANIOND_DOMAIN: "Chat.Example.com, www.example.com", HOST: "" });
  expect(server).toEqual({
    host: "::",
    port: 443,
    tls: null,
    acme: {
      domains: ["chat.example.com", "www.example.com"],
      email: null,
      directory: "https://acme-v02.api.letsencrypt.org/directory",
      httpPort: 80,
    },
    trustProxy: 0,
  });
  expect(publicUrl).toBe("https://chat.example.com");
  const moved = load(
    { COMPANIOND_DOMAIN: "a.example", COMPANIOND_HTTPS_PORT: "8443" },
    { flags: { host: "127.0.0.1" } },
  );
  expect([moved.server.host, moved.publicUrl]).toEqual(["127.0.0.1", "https://a.example:8443"]);
});

test.each(["*.example.com", "203.0.113.7", "localhost", "chat.example.com/app", "a..b", "a.example,,b.example"])(
  "takes no %s for a domain",
  (text) => {
    expect(problemsOf({ COMPANIOND_DOMAIN: text })).toEqual([expect.stringContaining("COMPANIOND_DOMAIN must")]);
  },
);

test("takes where backups are uploaded", () => {
  const recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
  const { storage } = load({
    COMPANIOND_BACKUP_S3_ENDPOINT: "https://s3.example.com/",
    COMPANIOND_BACKUP_S3_BUCKET: "backups",
    // What is stored has no slash there, and would never be listed with one.
    COMPANIOND_BACKUP_S3_PREFIX: "/companiond/",
    COMPANIOND_BACKUP_S3_KEY_ID: "id",
    COMPANIOND_BACKUP_S3_SECRET: "secret",
    COMPANIOND_BACKUP_AGE_RECIPIENT: recipient,
  }).backup;
  expect(storage).toEqual({
    endpoint: "https://s3.example.com",
    region: null,
    bucket: "backups",
    prefix: "companiond/",
    keyId: "id",
    secret: "secret",
    ageRecipient: recipient,
  });
});

test.each(["a//b/", "../a/", "a/./", "a\\b", "a".repeat(257)])("refuses %p as a prefix in the bucket", (prefix) => {
  const bucket = {
    COMPANIOND_BACKUP_S3_BUCKET: "b",
    COMPANIOND_BACKUP_S3_KEY_ID: "i",
    COMPANIOND_BACKUP_S3_SECRET: "s",
  };
  const problems = problemsOf({ ...bucket, COMPANIOND_BACKUP_S3_PREFIX: prefix });
  expect(problems).toEqual([expect.stringContaining("COMPANIOND_BACKUP_S3_PREFIX must be at most 256 characters")]);
});

test.each([
  [{ COMPANIOND_HTTPS_PORT: "8443" }, "COMPANIOND_HTTPS_PORT needs COMPANIOND_DOMAIN"],
  [{ COMPANIOND_DOMAIN: "a.example", COMPANIOND_TLS_CERT: "c", COMPANIOND_TLS_KEY: "k" }, "exclude each other"],
  [{ COMPANIOND_TLS_CERT: "c" }, "must be given together"],
  [{ COMPANIOND_BACKUP_S3_REGION: "eu" }, "COMPANIOND_BACKUP_S3_REGION needs COMPANIOND_BACKUP_S3_BUCKET"],
  [{ COMPANIOND_BACKUP_S3_BUCKET: "b", COMPANIOND_BACKUP_S3_KEY_ID: "i" }, "needs COMPANIOND_BACKUP_S3_SECRET"],
])("tells of settings that need or exclude each other: %j", (environment, sentence) => {
  expect(problemsOf(environment)).toEqual([expect.stringContaining(sentence)]);
});

test("cannot be changed once read", () => {
  const config = load({});
  expect(Object.isFrozen(config) && Object.isFrozen(config.llm.models) && Object.isFrozen(config.llm.extra)).toBe(true);
});

test("counts an empty variable as unset, also an unknown one", () => {
  expect(load({ PORT: "", OPENAI_API_KEY: "", COMPANIOND_TYPO: "" }).server.port).toBe(3000);
});

test("lets flags win over the environment, and the environment over the file", () => {
  const envFilePath = file("order.env", "PORT=1\nHOST=0.0.0.0\nCOMPANIOND_LOG=warn\nCOMPANIOND_MODEL=from-file\n");
  const config = load(
    { PORT: "2", COMPANIOND_LOG: "error", COMPANIOND_MODEL: "" },
    { envFilePath, flags: { port: "3", "data-dir": "/elsewhere", demo: true } },
  );
  expect(config.server).toEqual({ host: "0.0.0.0", port: 3, tls: null, acme: null, trustProxy: 0 });
  expect(config.log.level).toBe("error");
  expect(config.llm.model).toBe("from-file");
  expect(config.dataDir).toBe("/elsewhere");
  expect(config.isDemo).toBe(true);
});

test("reads each secret from a file, without its final line end", () => {
  const path = file("secret", "s3cret\r\n");
  const config = load({
    OPENAI_API_KEY_FILE: path,
    ELEVENLABS_API_KEY_FILE: path,
    ELEVENLABS_WEBHOOK_SECRET_FILE: path,
    COMPANIOND_METRICS_TOKEN_FILE: path,
  });
  expect([config.llm.apiKey, config.voice.apiKey, config.voice.webhookSecret, config.metrics.token]).toEqual(
    Array(4).fill("s3cret"),
  );
});

test("refuses a secret that is given twice, is missing, empty, or of several lines", () => {
  expect(
    problemsOf({
      OPENAI_API_KEY: "a",
      OPENAI_API_KEY_FILE: file("double", "b"),
      ELEVENLABS_API_KEY_FILE: join(dir, "absent"),
      ELEVENLABS_WEBHOOK_SECRET_FILE: file("empty", "\n"),
      COMPANIOND_METRICS_TOKEN_FILE: file("lines", "one-secret\ntwo\n"),
    }),
  ).toEqual([
    "OPENAI_API_KEY and OPENAI_API_KEY_FILE are both set. Keep one of them.",
    `ELEVENLABS_API_KEY_FILE: there is no such file: ${join(dir, "absent")}`,
    `The content of ELEVENLABS_WEBHOOK_SECRET_FILE (${join(dir, "empty")}) must not be empty.`,
    `The content of COMPANIOND_METRICS_TOKEN_FILE (${join(dir, "lines")}) must be one line of printable ASCII characters without spaces.`,
  ]);
});

test("reports all problems at once, in the file, the environment and the flags", () => {
  const envFilePath = file("bad.env", "oops\nCOMPANIOND_LOG=loud\n");
  const problems = problemsOf(
    { COMPANIOND_RATE_PER_IP: "0", COMPANIOND_LOGS: "info" },
    { envFilePath, flags: { port: "http", "tls-cert": "cert.pem" } },
  );
  expect(problems).toEqual([
    `${envFilePath} line 1: expected NAME=value.`,
    "COMPANIOND_LOGS is not a setting. Did you mean COMPANIOND_LOG?",
    '--port must be a whole number from 0 to 65535, not "http".',
    'COMPANIOND_LOG must be one of debug, info, warn, error, not "loud".',
    'COMPANIOND_RATE_PER_IP must be a whole number from 1 to 1000000000, not "0".',
    "--tls-cert and --tls-key (COMPANIOND_TLS_…) must be given together.",
  ]);
});

test.each([
  ["PORT", "65536"],
  ["PORT", "-1"],
  ["PORT", "3e3"],
  ["PORT", "0x10"],
  ["PORT", " 80"],
  ["HOST", "a b"],
  ["COMPANIOND_TRUST_PROXY", "yes"],
  ["COMPANIOND_PUBLIC_URL", "chat.example.com"],
  ["COMPANIOND_PUBLIC_URL", "https://chat.example.com/path"],
  ["COMPANIOND_PUBLIC_URL", "https://me:pw@chat.example.com"],
  ["COMPANIOND_PUBLIC_URL", "ftp://chat.example.com"],
  ["COMPANIOND_INSTANCE_URL", "10.0.0.11:3000"],
  ["COMPANIOND_INSTANCE_URL", "http://10.0.0.11:3000/internal"],
  ["COMPANIOND_INSTANCE_URL", "http://me:pw@10.0.0.11:3000"],
  ["OPENAI_BASE_URL", "https://x.example/v1?key=1"],
  ["OPENAI_BASE_URL", "localhost:11434"],
  ["OPENAI_API_KEY", "sk one"],
  ["OPENAI_API_KEY", "sk\u00e9"],
  ["COMPANIOND_MODELS", "a,,b"],
  ["COMPANIOND_LLM_API", "completions"],
  ["COMPANIOND_REASONING_EFFORT", "some"],
  ["COMPANIOND_REASONING_TOKENS", "128001"],
  ["COMPANIOND_LLM_EXTRA", "[1]"],
  ["COMPANIOND_LLM_EXTRA", '{"previous_response_id":"resp_1"}'],
  ["COMPANIOND_LLM_EXTRA", "{"],
  ["COMPANIOND_LLM_EXTRA", '{"messages":[]}'],
  ["COMPANIOND_LLM_HEADERS", "[]"],
  ["COMPANIOND_LLM_HEADERS", '{"x-key":1}'],
  ["COMPANIOND_LLM_HEADERS", '{"x key":"v"}'],
  ["COMPANIOND_LLM_HEADERS", '{"x-key":"a\\r\\nhost: b"}'],
  ["COMPANIOND_LLM_HEADERS", '{"x-key":"a","X-Key":"b"}'],
  ["COMPANIOND_LLM_HEADERS", '{"Authorization":"Bearer sk-1"}'],
  ["COMPANIOND_LLM_HEADERS", '{"Accept-Encoding":"gzip"}'],
  ["COMPANIOND_BACKUP_CRON", "daily at three"],
  ["COMPANIOND_BACKUP_CRON", "0 0 31 2 *"],
  ["COMPANIOND_BACKUP_KEEP", "0"],
  ["COMPANIOND_DATABASE_POOL", "0"],
  ["COMPANIOND_DATABASE_POOL_HEAVY", "1001"],
])("refuses %s=%p, naming the variable alone", (variable, value) => {
  const problems = problemsOf({ [variable]: value });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toStartWith(`${variable} `);
  if (variable === "OPENAI_API_KEY") expect(problems[0]).not.toContain(value);
});

test("refuses a metrics port equal to the server's", () => {
  expect(problemsOf({ COMPANIOND_METRICS_PORT: "3000" })).toEqual([
    "COMPANIOND_METRICS_PORT must differ from the port of the server.",
  ]);
});

test(".env.example is what the settings' descriptions make of it", () => {
  // Otherwise: bun scripts/env-example.ts
  expect(readFileSync(join(import.meta.dir, "../.env.example"), "utf8")).toBe(renderEnvExample());
});
