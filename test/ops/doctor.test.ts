/** What doctor finds in good installations and in bad ones. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startTestServer, testContext } from "../support/app.ts";
import { runCommand } from "../support/cli.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const key = "sk-a-key-that-nobody-may-see-0123456789";
const fixtures = join(import.meta.dir, "../fixtures/tls");
let mock: MockLlm;

beforeAll(async () => {
  mock = await startMockLlm();
});
afterAll(() => mock.close());

interface Report {
  exitCode: number;
  status: string;
  stdout: string;
  find(name: string): Check;
  findAll(name: string): Check[];
}

type Check = { name: string; status: string; detail: string; advice: string | null };

async function examine(environment: Record<string, string> = {}, words: string[] = []): Promise<Report> {
  const settings = { PORT: "0", OPENAI_API_KEY: key, OPENAI_BASE_URL: `${mock.url}/v1`, ...environment };
  const { exitCode, stdout, stderr } = await runCommand(["doctor", "--json", ...words], { environment: settings });
  expect(stderr).toBe("");
  const report: { status: string; checks: Check[] } = JSON.parse(stdout);
  const findAll = (name: string) => report.checks.filter((check) => check.name === name);
  return {
    exitCode,
    status: report.status,
    stdout,
    findAll,
    find(name) {
      const [found] = findAll(name);
      if (found === undefined) throw new Error(`doctor did not look at ${name}`);
      return found;
    },
  };
}

async function makeDatabase(dataDir: string): Promise<void> {
  expect((await runCommand(["account", "create", "--email", "ada@example.com", "--data-dir", dataDir])).exitCode).toBe(
    0,
  );
}

test("finds nothing wrong in a good installation, and asks the model for one word", async () => {
  using data = temporaryDirectory();
  await makeDatabase(data.path);
  const askedOf = () => mock.requests.filter(({ method }) => method === "POST").length;
  const asked = askedOf();
  const report = await examine({ COMPANIOND_DATA_DIR: data.path, COMPANIOND_BACKUP_CRON: "0 3 * * *" });
  await Bun.write(data.file("backups/companiond-20260101T000000Z.db"), "");
  chmodSync(data.file("backups"), 0o700);
  const later = await examine({ COMPANIOND_DATA_DIR: data.path, COMPANIOND_BACKUP_CRON: "0 3 * * *" });
  expect(report.exitCode).toBe(0);
  expect(later.status).toBe("ok");
  expect(later.find("language model").detail).toStartWith("gpt-6-luna answers at 127.0.0.1:");
  expect(later.find("database").detail).toContain("It is intact");
  expect(askedOf()).toBe(asked + 2);
});

test("reports every problem of the configuration, and checks nothing else", async () => {
  const report = await examine({ PORT: "http", COMPANIOND_RATE_PER_IPS: "5" });
  expect(report.exitCode).toBe(2);
  expect(report.status).toBe("fail");
  expect(report.findAll("configuration").map(({ detail }) => detail)).toEqual([
    "COMPANIOND_RATE_PER_IPS is not a setting. Did you mean COMPANIOND_RATE_PER_IP?",
    expect.stringMatching(/^PORT must be a whole number/),
  ]);
});

test("warns of a model that its provider will shut down, and fails where it has", async () => {
  using directory = temporaryDirectory();
  const other = await startMockLlm();
  let date = "2199-12-11";
  other.answerList = (response) =>
    response.send(
      200,
      { "Content-Type": "application/json" },
      JSON.stringify({ data: [{ id: "ending", shutdown_date: date }] }),
    );
  const settings = {
    COMPANIOND_DATA_DIR: directory.path,
    COMPANIOND_MODEL: "ending",
    OPENAI_BASE_URL: `${other.url}/v1`,
  };
  const where = new URL(other.url).host;
  expect((await examine(settings)).find("model")).toEqual({
    name: "model",
    status: "warn",
    detail: `ending will be shut down on 2199-12-11, according to ${where}.`,
    advice: "Set COMPANIOND_MODEL to another model.",
  });
  date = "2026-01-01";
  expect((await examine(settings)).find("model")).toMatchObject({
    status: "fail",
    detail: `ending was shut down on 2026-01-01, according to ${where}.`,
  });
  await other.close();
});

test("fails where the default model has no price and a budget stops calls", async () => {
  const server = await startTestServer();
  const environment = { COMPANIOND_DATA_DIR: server.dataDir, COMPANIOND_MODEL: "gpt-6-luna" };
  const { id } = await server.createAccount();
  const before = await examine(environment);
  expect(before.findAll("prices")).toEqual([]);
  const budget = { id: "b1", subject: { account: true }, limitMicros: 1000, period: "day", action: "stop" } as const;
  await server.services.store.spending.createBudget(id, budget, testContext());
  const found = await examine(environment);
  expect(found.find("prices").status).toBe("fail");
  for (const setting of ["COMPANIOND_PRICES", "COMPANIOND_MODEL"]) {
    expect(found.find("prices").advice).toContain(setting);
  }
  const priced = { ...environment, COMPANIOND_PRICES: '{"gpt-6-luna":{"input":0.1,"output":0.5}}' };
  expect((await examine(priced)).find("prices").status).toBe("ok");
  await server.close();
});

test("says that the model refuses the key, without the key or what looks like one", async () => {
  using data = temporaryDirectory();
  mock.respond((_, response) =>
    response.send(401, { "Content-Type": "application/json" }, `{"error":{"message":"Incorrect API key ${key}"}}`),
  );
  const report = await examine({ COMPANIOND_DATA_DIR: data.path });
  mock.respond(null);
  expect(report.exitCode).toBe(1);
  expect(report.find("language model")).toMatchObject({
    status: "fail",
    advice: expect.stringContaining("OPENAI_API_KEY"),
  });
  expect(report.stdout).not.toContain(key);
});

test("says that nothing listens at the model's address, nor at that of the one for embeddings", async () => {
  using data = temporaryDirectory();
  const environment = { OPENAI_BASE_URL: "http://127.0.0.1:9/v1", COMPANIOND_EMBEDDING_MODEL: "embed-1" };
  const report = await examine({ COMPANIOND_DATA_DIR: data.path, ...environment });
  expect(report.find("embeddings").detail).toStartWith("embed-1 does not answer: the connection to 127.0.0.1:9");
  expect(report.find("language model").status).toBe("fail");
});

test("asks every provider and every entry of a chain once, and says where to mend those that are silent", async () => {
  using data = temporaryDirectory();
  using refusing = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json({ error: { message: `Incorrect API key ${key}` } }, { status: 401 }),
  });
  await Bun.write(data.file("router.key"), key);
  const providers = [
    { name: "router", base_url: `http://127.0.0.1:${refusing.port}/v1`, api_key_file: "router.key" },
    { name: "own", base_url: `${mock.url}/v1`, models: ["small", "large"] },
  ];
  const models = { fast: ["router/quick", "default/gpt-6-luna"], safe: ["router/quick", "default/gpt-6-luna"] };
  await Bun.write(data.file("providers.json"), JSON.stringify({ providers, models }));
  const asked = mock.requests.length;
  const environment = {
    COMPANIOND_DATA_DIR: data.path,
    COMPANIOND_PROVIDERS_FILE: data.file("providers.json"),
    COMPANIOND_PRICES: '{"gpt-6-luna":{"input":1,"output":1},"own/smal":{"input":1,"output":1}}',
  };
  const report = await examine(environment);
  expect(report.exitCode).toBe(1);
  const { host } = new URL(mock.url);
  expect(report.findAll("language model")).toMatchObject([
    { status: "ok", detail: `gpt-6-luna answers at ${host} over Chat Completions.` },
    {
      status: "fail",
      detail: expect.stringMatching(/^router\/quick does not reply at 127\.0\.0\.1:\d+: the provider answered 401 /),
      advice: expect.stringContaining(data.file("router.key")),
    },
    { status: "ok", detail: `own/small answers at ${host} over Chat Completions.` },
  ]);
  expect(mock.requests.slice(asked).filter(({ method }) => method === "POST")).toHaveLength(2);
  expect(report.find("prices")).toMatchObject({ status: "warn", detail: expect.stringContaining("own/smal.") });
  const partly = await examine({ ...environment, COMPANIOND_PRICES: '{"gpt-6-luna":{"input":1,"output":1}}' });
  expect(partly.find("prices")).toMatchObject({ status: "warn", detail: expect.stringContaining("own/small") });
  expect(report.stdout).not.toContain(key);
});

test("says that a voice provider does not accept its key", async () => {
  using data = temporaryDirectory();
  const refusing = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("{}", { status: 401 }) });
  const report = await examine({
    COMPANIOND_DATA_DIR: data.path,
    ELEVENLABS_API_KEY: "xi-secret-voice-key",
    ELEVENLABS_BASE_URL: `http://127.0.0.1:${refusing.port}`,
  });
  await refusing.stop(true);
  expect(report.find("voice provider")).toMatchObject({ status: "fail", advice: "Check ELEVENLABS_API_KEY." });
  expect(report.stdout).not.toContain("xi-secret-voice-key");
});

test("finds a damaged database", async () => {
  using data = temporaryDirectory();
  await makeDatabase(data.path);
  writeFileSync(data.file("companiond.db"), "rubbish, and more of it than a header");
  const report = await examine({ COMPANIOND_DATA_DIR: data.path });
  expect(report.exitCode).toBe(1);
  expect(report.find("database")).toMatchObject({
    status: "fail",
    advice: expect.stringContaining("companiond restore"),
  });
});

test("warns of files that others can read", async () => {
  using data = temporaryDirectory();
  await makeDatabase(data.path);
  chmodSync(data.file("companiond.db"), 0o644);
  expect((await examine({ COMPANIOND_DATA_DIR: data.path })).find("data directory")).toMatchObject({
    status: "warn",
    detail: expect.stringContaining("companiond.db"),
  });
  chmodSync(data.path, 0o755);
  const advice = (await examine({ COMPANIOND_DATA_DIR: data.path })).find("data directory").advice;
  expect(advice).toBe(`chmod 700 ${data.path}`);
});

test("warns of a directory in which others may replace the database", async () => {
  using data = temporaryDirectory();
  await makeDatabase(data.path);
  chmodSync(data.path, 0o777);
  expect((await examine({ COMPANIOND_DATA_DIR: data.path })).find("data directory")).toMatchObject({
    status: "warn",
    detail: expect.stringContaining("can write in"),
    advice: `chmod 700 ${data.path}`,
  });
});

test("distinguishes a port of this program from one of another program", async () => {
  const running = await startTestServer();
  const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("something else") });
  const ours = await examine({ COMPANIOND_DATA_DIR: running.dataDir, PORT: new URL(running.url).port });
  expect(ours.find("port")).toMatchObject({ status: "ok", detail: expect.stringMatching(/^companiond .* is serving/) });
  const taken = await examine({ COMPANIOND_DATA_DIR: running.dataDir, PORT: String(other.port) });
  expect(taken.find("port").status).toBe("fail");
  await other.stop(true);
  await running.close();
});

test("finds a proxy that forwards without being trusted", async () => {
  const token = "a-token-for-the-scraper";
  const running = await startTestServer({ environment: { COMPANIOND_METRICS_TOKEN: token } });
  const settings = {
    COMPANIOND_DATA_DIR: running.dataDir,
    PORT: new URL(running.url).port,
    COMPANIOND_METRICS_TOKEN: token,
  };
  expect((await examine(settings)).find("proxy headers").status).toBe("ok");
  await fetch(`${running.url}/healthz`, { headers: { "x-forwarded-for": "203.0.113.9" } });
  expect((await examine(settings)).find("proxy headers")).toMatchObject({
    status: "fail",
    advice: expect.stringContaining("COMPANIOND_TRUST_PROXY"),
  });
  await running.close();
});

test("finds contradictions between proxy, address and public URL", async () => {
  using data = temporaryDirectory();
  const base = { COMPANIOND_DATA_DIR: data.path };
  const behind = await examine({ ...base, COMPANIOND_PUBLIC_URL: "https://chat.invalid" });
  expect(behind.find("proxy headers").status).toBe("warn");
  expect(behind.find("public URL")).toMatchObject({ status: "warn" });
  const open = await examine({ ...base, COMPANIOND_TRUST_PROXY: "1", HOST: "0.0.0.0" });
  expect(open.find("proxy headers").detail).toContain("can forge addresses");
  for (const needing of [{ HOST: "0.0.0.0" }, { HOST: "192.168.0.2" }, { COMPANIOND_TRUST_PROXY: "1" }]) {
    expect((await examine({ ...base, ...needing })).find("public URL")).toMatchObject({
      status: "warn",
      detail: expect.stringContaining("allowed_origins"),
      advice: expect.stringContaining("COMPANIOND_PUBLIC_URL"),
    });
  }
  expect((await examine(base)).find("public URL").status).toBe("ok");
});

test("checks the certificate", async () => {
  using data = temporaryDirectory();
  mkdirSync(data.file("tls"));
  const [cert, privateKey] = [data.file("tls/cert.pem"), data.file("tls/key.pem")];
  copyFileSync(join(fixtures, "one.cert.pem"), cert);
  copyFileSync(join(fixtures, "one.key.pem"), privateKey);
  const words = ["--tls-cert", cert, "--tls-key", privateKey];
  expect((await examine({ COMPANIOND_DATA_DIR: data.path }, words)).find("certificate").status).toBe("ok");
  copyFileSync(join(fixtures, "two.key.pem"), privateKey);
  expect((await examine({ COMPANIOND_DATA_DIR: data.path }, words)).find("certificate").status).toBe("fail");
});

test("finds a clock that is off the provider's", async () => {
  using data = temporaryDirectory();
  const fast = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(null, { status: 404, headers: { date: "Fri, 02 Jan 2099 00:00:00 GMT" } }),
  });
  const report = await examine({ COMPANIOND_DATA_DIR: data.path, OPENAI_BASE_URL: `http://127.0.0.1:${fast.port}/v1` });
  await fast.stop(true);
  expect(report.find("clock")).toMatchObject({ status: "fail", advice: expect.stringContaining("NTP") });
});

test("reads as lines of ok, off, warn and fail, with what to do below", async () => {
  using data = temporaryDirectory();
  await makeDatabase(data.path);
  const { stdout, exitCode } = await runCommand(["doctor"], {
    environment: { COMPANIOND_DATA_DIR: data.path, PORT: "0" },
  });
  expect(exitCode).toBe(0);
  expect(stdout).toContain("ok    configuration    All settings are valid.\n");
  expect(stdout).toContain("off   voice provider   None is configured: companions have no voice.\n");
  expect(stdout).toContain("warn  language model   None is configured: the built-in demo replies.\n");
  expect(stdout).toContain(
    "\n                       Set OPENAI_API_KEY, OPENAI_BASE_URL or COMPANIOND_PROVIDERS_FILE.\n",
  );
});

test("tells where the built-in demo replies, and where serve does not start because of it", async () => {
  using data = temporaryDirectory();
  const base = { COMPANIOND_DATA_DIR: data.path, OPENAI_API_KEY: "", OPENAI_BASE_URL: "" };
  const look = async (changes: Record<string, string>, words: string[] = []) =>
    (await examine({ ...base, ...changes }, words)).find("language model");
  expect(await look({})).toMatchObject({ status: "warn", detail: "None is configured: the built-in demo replies." });
  expect(await look({ HOST: "0.0.0.0" })).toMatchObject({
    status: "fail",
    detail: "None is configured: serve does not start on 0.0.0.0.",
    advice: expect.stringContaining("--demo"),
  });
  expect((await look({ HOST: "0.0.0.0" }, ["--demo"])).status).toBe("warn");
  expect((await look({ COMPANIOND_TRUST_PROXY: "1" })).detail).toContain("to everyone whom the proxy lets through");
});

test("tells of variables that have no effect", async () => {
  using data = temporaryDirectory();
  const report = await examine({ COMPANIOND_DATA_DIR: data.path, OPENAI_ORG_ID: "org-a-secret" });
  expect(report.find("configuration")).toMatchObject({
    status: "warn",
    detail: expect.stringMatching(/^OPENAI_ORG_ID has no effect: /),
  });
  expect(report.stdout).not.toContain("org-a-secret");
});
