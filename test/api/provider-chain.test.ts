/** Chats with companions whose model is a chain of providers, over whole requests. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { systemIds } from "../../src/lib/ids.ts";
import { type ApiClient, apiClient, expectInvalid } from "../support/api-client.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { chat, sendChat } from "../support/chat.ts";
import { openDashboard } from "../support/dashboard.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { readMetrics } from "../support/metrics.ts";
import { type MockLlm, type Responder, startMockLlm } from "../support/mock-llm.ts";
import { chunk, doneMark, event, wholeStream } from "../support/mock-llm-replies.ts";
import { temporaryDirectory } from "../support/temporary.ts";

type Companion = Awaited<ReturnType<TestServer["createCompanion"]>>;

const backupKey = "sk-of-the-backup-0123456789";
const prices = { "test-model": { input: 1, output: 1 }, "backup/big": { input: 2.5, cached_input: 0.25, output: 10 } };
const files = temporaryDirectory();
let clock: ManualClock;
let backup: MockLlm;
let server: TestServer;
let companion: Companion;
let owner: ApiClient;

beforeAll(async () => {
  backup = await startMockLlm();
  await Bun.write(files.file("backup.key"), `${backupKey}\n`);
  const entry = { name: "backup", base_url: `${backup.url}/v1`, api_key_file: "backup.key", models: ["big", "small"] };
  const aliases = { safe: ["default/test-model", "backup/big"] };
  await Bun.write(files.file("providers.json"), JSON.stringify({ providers: [entry], models: aliases }));
  clock = createManualClock();
  server = await startTestServer({
    clock,
    environment: {
      COMPANIOND_PROVIDERS_FILE: files.file("providers.json"),
      COMPANIOND_PRICES: JSON.stringify(prices),
      COMPANIOND_METRICS_TOKEN: "scraper",
    },
  });
});
afterAll(async () => {
  await server.close();
  await backup.close();
  files[Symbol.dispose]();
});

beforeEach(async () => {
  // What failed in the test before is forgotten.
  clock.advance(61_000);
  const account = await server.createAccount({ email: `owner-${clock.nowMs()}@example.com` });
  companion = await server.createCompanion({ model: "safe" }, account);
  owner = apiClient(server.url, (await server.createKey(account)).key);
  backup.respond(answering("From ", "the ", "backup."));
});
afterEach(() => server.mockLlm.respond(null));

const answering =
  (...words: string[]): Responder =>
  async (_, response) => {
    for (const part of wholeStream(words)) await response.write(part);
    response.end();
  };

const refusing =
  (status: number, message = "no"): Responder =>
  (_, response) =>
    response.send(status, {}, JSON.stringify({ error: { message } }));

const closing: Responder = (_, response) => {
  // Before its head, a kept connection that closes says nothing about the provider.
  response.begin();
  response.reset();
};

async function readUsage(groupBy: string) {
  await server.services.openTurns.whenEnded();
  const rows = (await owner.call("GET", `/api/usage?group_by=${groupBy}`)).json.data;
  // The owner's own calls are counted whenever the server comes to it.
  return rows.filter(({ messages }) => messages !== 0);
}

async function readMessages() {
  await server.services.openTurns.whenEnded();
  const [conversation] = (await owner.call("GET", "/api/conversations")).json.data;
  return (await owner.call("GET", `/api/conversations/${conversation?.id}`)).json.messages;
}

describe("the next provider answers, as one clean stream", () => {
  test.each<[string, Responder]>([
    ["refuses the key", refusing(401)],
    ["does not know the model", refusing(404)],
    ["has no credit or rate left", refusing(429)],
    ["fails", refusing(500)],
    ["sends garbage", (_, response) => response.send(200, {}, "data: {\n\n")],
    ["sends a page", (_, response) => response.send(200, { "Content-Type": "text/html" }, "<html>")],
    ["says nothing", (_, response) => response.send(200, {}, event({ choices: [] }))],
    ["closes the connection", closing],
    ["never comes to a word", (_, response) => response.send(200, {}, `:\n${"\n".repeat(200_000)}`)],
  ])("where the first one %s", async (_, failing) => {
    server.mockLlm.respond(failing);
    const asked = [server.mockLlm.requests.length, backup.requests.length];
    const reply = await chat(server.url, companion.embedToken, { message: "Hello there, both of you" });
    expect(reply.raw).toBe(
      'data: {"text":"From "}\n\ndata: {"text":"the "}\n\ndata: {"text":"backup."}\n\ndata: [DONE]\n\n',
    );
    expect(
      [server.mockLlm.requests.length, backup.requests.length].map((now, index) => now - (asked[index] ?? 0)),
    ).toEqual([1, 1]);
    expect(server.mockLlm.requests.at(-1)?.body.model).toBe("test-model");
    expect(backup.requests.at(-1)).toMatchObject({
      body: { model: "big" },
      headers: { authorization: `Bearer ${backupKey}` },
    });
  });
});

test("messages and usage tell model and provider of the one that answered, at its price", async () => {
  server.mockLlm.respond(refusing(401));
  await chat(server.url, companion.embedToken, { message: "Hello" });
  expect(await readMessages()).toMatchObject([
    { role: "user" },
    { role: "assistant", model: "big", provider: "backup" },
  ]);
  server.mockLlm.respond(null);
  await chat(server.url, companion.embedToken, { message: "Hello" });
  // 11 tokens in and 7 out at the prices above, in micro-dollars: 97.5 of the backup, 18 of the first.
  expect(await readUsage("provider")).toMatchObject([
    { provider: "backup", messages: 1, cost_micros: 98, errors: 0 },
    { provider: "default", messages: 1, cost_micros: 18 },
  ]);
  expect(await readUsage("model")).toMatchObject([
    { model: "big", messages: 1 },
    { model: "test-model", messages: 1 },
  ]);
});

test("a budget has room for a chain only if it has room for the dearest of its entries", async () => {
  // 5 bytes and 64 in at 2.5 micro-dollars, 100 tokens out at 10: 1172.5. The first one alone would be 169.
  await owner.call("PATCH", `/api/companions/${companion.id}`, { system_prompt: null, max_output_tokens: 100 });
  const { spending } = server.services.store;
  const context = () => testContext(clock.nowMs());
  const budget = { id: systemIds.uuid(), subject: { companionId: companion.id }, limitMicros: 1172 };
  await spending.createBudget(companion.accountId, { ...budget, period: "day", action: "stop" }, context());
  const asked = server.mockLlm.requests.length;
  expect((await chat(server.url, companion.embedToken, { message: "Hello" })).raw).toContain("budget_exceeded");
  expect(server.mockLlm.requests).toHaveLength(asked);
  await spending.updateBudget(companion.accountId, budget.id, { limitMicros: 1173 }, context());
  expect((await chat(server.url, companion.embedToken, { message: "Hello" })).isDone).toBe(true);
});

test("what each entry may charge for is spent, also where the next one answers", async () => {
  const { spending } = server.services.store;
  const budget = { id: systemIds.uuid(), subject: { companionId: companion.id }, limitMicros: 1_000_000 };
  const context = testContext(clock.nowMs());
  await spending.createBudget(companion.accountId, { ...budget, period: "day", action: "stop" }, context);
  await owner.call("PATCH", `/api/companions/${companion.id}`, { system_prompt: null });
  server.mockLlm.respond(closing);
  expect((await chat(server.url, companion.embedToken, { message: "Hello" })).isDone).toBe(true);
  // 5 bytes and 64 of the first one, at 1 micro-dollar; of the one that answered what it counted.
  const found = await spending.findBudget(companion.accountId, budget.id, clock.nowMs());
  expect(found).toMatchObject({ spent: { micros: 69 + 97, picos: 500_000 }, reservedMicros: 0 });
  const { data } = (await owner.call("GET", "/api/usage?group_by=provider")).json;
  expect(data.find(({ provider }) => provider === "default")).toMatchObject({ messages: 0, cost_micros: 69 });
});

test("where both fail it is a 502, and one failed reply of the last one's kind", async () => {
  server.mockLlm.respond(refusing(401));
  backup.respond(refusing(404));
  const reply = await chat(server.url, companion.embedToken, { message: "Hello" });
  expect(reply.status).toBe(502);
  expect(reply.raw).toContain("upstream_error");
  await server.services.openTurns.whenEnded();
  expect((await owner.call("GET", "/api/usage/failures")).json.data).toMatchObject([
    { kind: "unknown_model", replies: 1 },
  ]);
});

test("other refusals end it: nobody else is asked", async () => {
  server.mockLlm.respond(refusing(400, "too long"));
  const asked = backup.requests.length;
  expect((await chat(server.url, companion.embedToken, { message: "Hello" })).status).toBe(502);
  expect(backup.requests).toHaveLength(asked);
});

test("two accounts whose own bounds and stop texts leave nothing keep nobody else from the first one", async () => {
  server.mockLlm.respond(async ({ body }, response) => {
    // Also where it is given room to think.
    const isOut = Number(body.max_tokens) % 8192 === 1;
    if (!isOut && body.stop === undefined) await response.write(chunk({ content: "First." }));
    await response.write(chunk({ finishReason: isOut ? "length" : "stop" }) + doneMark);
    response.end();
  });
  const model = "safe";
  for (const name of ["one", "other"]) {
    const account = await server.createAccount({ email: `${name}-${clock.nowMs()}@example.com` });
    const { embedToken } = await server.createCompanion({ model, maxOutputTokens: 1 }, account);
    const { id } = await server.createCompanion({ model }, account);
    const { key } = await server.createKey(account);
    for (let asked = 0; asked < 5; asked++) {
      expect((await chat(server.url, embedToken, { message: "Hello" })).isDone).toBe(true);
      const body = { model: id, messages: [{ role: "user", content: "Hello" }], stop: ["First"] };
      expect((await apiClient(server.url, key).call("POST", "/v1/chat/completions", body)).status).toBe(200);
    }
  }
  expect((await chat(server.url, companion.embedToken, { message: "Hello" })).raw).toContain("First.");
  server.mockLlm.respond(refusing(500));
  for (let asked = 0; asked < 5; asked++) await chat(server.url, companion.embedToken, { message: "Hello" });
  const asked = server.mockLlm.requests.length;
  await chat(server.url, companion.embedToken, { message: "Hello" });
  expect(server.mockLlm.requests).toHaveLength(asked);
});

test("a visitor who leaves while the second one is asked ends that call", async () => {
  server.mockLlm.respond(refusing(500));
  backup.respond(async (_, response) => await response.closed);
  const leaving = new AbortController();
  const asked = sendChat(server.url, companion.embedToken, { message: "Hello" }, { signal: leaving.signal });
  await backup.until(() => backup.openRequests === 1);
  leaving.abort();
  await expect(asked).rejects.toThrow();
  await backup.until(() => backup.openRequests === 0);
});

test("companions may choose an alias and a provider's models, and nothing else", async () => {
  const offered = ["test-model", "safe", "backup/big", "backup/small"];
  for (const model of offered) {
    const made = await owner.call("POST", "/api/companions", { name: "Ada", model });
    expect([made.status, made.json.model]).toEqual([201, model]);
  }
  for (const model of ["backup/large", "big", "default/test-model"]) {
    const refused = await owner.call("POST", "/api/companions", { name: "Ada", model });
    expectInvalid(refused, ["model"]);
    expect(refused.json.errors[0]?.detail).toBe(`Must be one of: ${offered.join(", ")}.`);
  }
  const { embedToken } = await server.createCompanion({ model: "backup/small" });
  await chat(server.url, embedToken, { message: "Hello" });
  expect(backup.requests.at(-1)?.body.model).toBe("small");
});

test("operators see who fails although visitors do not, and where to mend it", async () => {
  backup.respond(refusing(401, `Incorrect API key provided: ${backupKey}`));
  server.mockLlm.respond(refusing(500));
  for (let asked = 0; asked < 5; asked++) await chat(server.url, companion.embedToken, { message: "Hello" });
  const operator = await openDashboard(server, { role: "operator", email: `operator-${clock.nowMs()}@example.com` });
  const status = await operator.call("GET", "/api/status");
  expect(status.json.silent_models).toMatchObject([
    { model: "test-model", kind: "provider_error" },
    {
      model: "backup/big",
      kind: "refused_key",
      detail: expect.stringContaining(`backup/big does not reply at ${new URL(backup.url).host}`),
      advice: expect.stringContaining(files.file("backup.key")),
    },
  ]);
  const scrape = await fetch(`${server.url}/metrics`, { headers: { authorization: "Bearer scraper" } });
  const metrics = readMetrics(await scrape.text());
  const passedOver = (provider: string, model: string) =>
    metrics.value("companiond_provider_passed_over", { provider, model });
  expect([passedOver("default", "test-model"), passedOver("backup", "big")]).toEqual([1, 1]);
  expect(metrics.value("companiond_provider_calls_total", { provider: "backup", outcome: "failed" })).toBe(6);
  expect(status.text + JSON.stringify(server.log.events) + metrics.text).not.toContain(backupKey);
  // Nothing of the key is anywhere in the data either.
  for (const name of readdirSync(server.dataDir)) {
    const path = `${server.dataDir}/${name}`;
    if (await Bun.file(path).exists()) expect(await Bun.file(path).text()).not.toContain(backupKey);
  }
});
