/** `companiond eval` on an account's companions, in the data directory and over HTTP, and cases of kept conversations. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { toUtcDay } from "../../src/lib/clock.ts";
import { type ApiClient, apiClient } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { chat } from "../support/chat.ts";
import { runCommand } from "../support/cli.ts";
import { isOnPostgres } from "../support/engine.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

const prices = { COMPANIOND_PRICES: '{"test-model": {"input": 1, "output": 1}}' };
const called: string[] = [];
let dir: TemporaryDirectory;
let server: TestServer;
let shop: Bun.Server<undefined>;
let account: Account;
let companion: Companion & { embedToken: string };
let api: ApiClient;
beforeAll(async () => {
  dir = temporaryDirectory();
  shop = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    fetch(request) {
      called.push(request.url);
      return Response.json({ state: "sent" });
    },
  });
  const environment = { ...prices, COMPANIOND_PRIVATE_TARGETS: "127.0.0.0/8" };
  server = await startTestServer({ environment, isShared: isOnPostgres });
  account = await server.createAccount({ email: "ada@example.com" });
  companion = await server.createCompanion({ slug: "ada", systemPrompt: "You are Ada." }, account);
  const { key } = await server.createKey(account);
  api = apiClient(server.url, key);
  writeFileSync(dir.file("key"), `${key}\n`);
  const tool = { name: "find_order", description: "Finds an order.", url: shop.url.href };
  expect((await api.call("POST", `/api/companions/${companion.id}/tools`, tool)).status).toBe(201);
});
afterAll(async () => {
  await Promise.all([server.close(), shop.stop(true)]);
  dir[Symbol.dispose]();
});

const own = ["--account", "ada@example.com"];
const remote = () => ["--url", server.url, "--api-key-file", dir.file("key")];

const run = (...words: string[]) => runWhere("test-model", ...words);

async function runWhere(model: string, ...words: string[]) {
  const { mockLlm, dataDir } = server;
  const provider = { OPENAI_API_KEY: "sk-x", OPENAI_BASE_URL: `${mockLlm.url}/v1`, COMPANIOND_MODEL: model };
  const environment = { COMPANIOND_DATA_DIR: dataDir, ...provider, ...prices };
  return await runCommand(["eval", ...words], { environment });
}

const suite = `
suite: Orders
companion: ada
cases:
  - name: an order
    visitor: {sub: v1, name: Mia}
    turns:
      - user: '[[call:find_order {"number":"1"}]]'
        tools: {find_order: {error: It is closed.}}
        expect: [{calls: {tool: find_order, arguments: {number: "1"}}}, {contains: It is closed}, {max_cost_micros: 36}]
      - user: Thanks
        expect: [{equals: "You said: Thanks"}]
`;

test("the account's companions reply the same in the data directory and over HTTP: paid for, but none of the day's messages", async () => {
  writeFileSync(dir.file("suite.yaml"), suite);
  const runs = [];
  for (const where of [own, remote()]) {
    const { exitCode, stdout, stderr } = await run(dir.file("suite.yaml"), "--live", ...where, "--json");
    expect([exitCode, stderr]).toEqual([0, ""]);
    runs.push(stdout.replace(/_ms":\d+/g, '_ms":0'));
  }
  expect(runs[0]).toBe(runs[1] ?? "");
  expect(JSON.parse(runs[0] ?? "")).toMatchObject({ passed: 1, cost_micros: 54 });
  expect(called).toEqual([]);
  const { store } = server.services;
  expect(await store.turns.countDay(companion.id, toUtcDay(Date.now()))).toBe(0);
  const [usage] = (await api.call("GET", "/api/usage")).json.data;
  expect(usage).toMatchObject({ messages: 0, input_tokens: 66, cost_micros: 108 });
  expect((await api.call("GET", "/api/conversations")).json.data).toEqual([]);
});

test("drafts, versions and other models are tested where they are asked for", async () => {
  const path = `/api/companions/${companion.id}`;
  expect((await api.call("PATCH", path, { system_prompt: "You are the second." })).status).toBe(200);
  expect((await api.call("PUT", `${path}/draft`, { system_prompt: "You are a draft." })).status).toBe(200);
  for (const where of [own, remote()]) {
    const prompts: unknown[] = [];
    // The first had no tool yet.
    for (const tried of [["--draft"], ["--version", "2"], []]) {
      const before = server.mockLlm.requests.length;
      const options = ["--live", ...where, ...tried, "--model", "test-model"];
      expect((await run(dir.file("suite.yaml"), ...options)).exitCode).toBe(0);
      const { messages } = server.mockLlm.requests[before]?.body ?? {};
      prompts.push(JSON.stringify(messages).match(/You are [^.]+/)?.[0]);
    }
    expect(prompts).toEqual(["You are a draft", "You are Ada", "You are the second"]);
  }
  expect((await api.call("DELETE", `${path}/draft`)).status).toBe(204);
  // What the server offers is no matter of this machine, which asks the judges.
  writeFileSync(dir.file("judged.yaml"), suite.replace('equals: "You said: Thanks"', "judge: It is kind."));
  const judged = await runWhere("judge-1", dir.file("judged.yaml"), "--live", ...remote(), "--model", "test-model");
  expect([judged.exitCode, judged.stdout]).toEqual([1, expect.stringContaining("judge: It is kind.: The judge")]);
});

test("a companion or draft that there is not, and a wrong key, are failures in words", async () => {
  writeFileSync(dir.file("other.yaml"), suite.replace("companion: ada", "companion: eve"));
  for (const where of [own, remote()]) {
    const { exitCode, stdout } = await run(dir.file("other.yaml"), "--live", ...where);
    expect([exitCode, stdout]).toEqual([
      1,
      expect.stringContaining("other.yaml:3: There is no companion with the slug eve"),
    ]);
  }
  for (const where of [own, remote()]) {
    const { exitCode, stdout, stderr } = await run(dir.file("suite.yaml"), "--live", ...where, "--draft");
    expect([exitCode, `${stdout}${stderr}`]).toEqual([1, expect.stringMatching(/draft/i)]);
  }
  writeFileSync(dir.file("wrong"), "cmp_live_wrong");
  const refused = await run(dir.file("suite.yaml"), "--live", "--url", server.url, "--api-key-file", dir.file("wrong"));
  expect([refused.exitCode, refused.stdout]).toEqual([1, ""]);
});

test("kept conversations become cases, the same from the data directory and over HTTP, which pass as they are", async () => {
  const sent = { session_id: crypto.randomUUID() };
  await chat(server.url, companion.embedToken, { message: 'Where is it? [[call:find_order {"number":"7"}]]', ...sent });
  await chat(server.url, companion.embedToken, { message: "Thanks: \nbye", ...sent });
  const visitor = { sub: "customer-1", name: "Mia", email: "mia@example.com", attributes: { plan: "pro" } };
  const path = `/api/companions/${companion.id}/chat`;
  expect((await api.call("POST", path, { message: "Hello", visitor, session_id: crypto.randomUUID() })).status).toBe(
    200,
  );
  const ids = (await api.call("GET", "/api/conversations")).json.data.map(({ id }) => id).reverse();
  expect([ids.length, called.length]).toEqual([2, 1]);

  const [local, far] = [await run("record", ...ids, ...own), await run("record", ...ids, ...remote())];
  expect([local.exitCode, far.exitCode]).toEqual([0, 0]);
  expect(far.stdout).toBe(local.stdout);
  expect(local.stdout).not.toMatch(/customer-1|Mia|mia@|pro/);
  const made = Bun.YAML.parse(local.stdout) as { cases: { turns: object[] }[] };
  expect(made).toMatchObject({ companion: "ada", cases: [{ turns: [{}, {}] }, { visitor: { sub: "visitor" } }] });
  expect(made.cases[0]?.turns).toEqual([
    {
      user: 'Where is it? [[call:find_order {"number":"7"}]]',
      tools: { find_order: { result: { state: "sent" } } },
      reference: 'The tools said: {"state":"sent"}',
      expect: [],
    },
    { user: "Thanks: \nbye", reference: "You said: Thanks: \nbye", expect: [] },
  ]);
  for (const where of [own, remote()]) {
    const { stdout } = await run("record", ids[1] ?? "", ...where, "--with-visitor");
    expect(Bun.YAML.parse(stdout)).toMatchObject({ cases: [{ visitor }] });
  }

  const file = dir.file("kept.yaml");
  expect((await run("record", ids[0] ?? "", ...own, "-o", file)).stdout).toContain("Added 1 case to");
  writeFileSync(file, `# Of the first week\n${readFileSync(file, "utf8")}`);
  expect((await run("record", ids[1] ?? "", ...remote(), "-o", file)).exitCode).toBe(0);
  expect(readFileSync(file, "utf8")).toStartWith("# Of the first week\n");
  const again = await run("record", ids[1] ?? "", ...own, "-o", file);
  expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("already")]);
  const replied = await run(file, "--live", ...remote(), "--json");
  expect(JSON.parse(replied.stdout)).toMatchObject({ cases: 2, passed: 2 });
  expect(called).toHaveLength(1);
});

test("a budget that is used up ends a run, wherever it is asked", async () => {
  const budget = { account: true, limit_micros: 1, period: "month", action: "stop" };
  expect((await api.call("POST", "/api/budgets", budget)).status).toBe(201);
  for (const where of [own, remote()]) {
    const { exitCode, stdout } = await run(dir.file("suite.yaml"), "--live", ...where);
    expect([exitCode, stdout]).toEqual([4, expect.stringMatching(/skipped +an order(.|\n)*Stopped: /)]);
  }
});
