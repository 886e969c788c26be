/** `/api/server` through whole requests: operators see what the server runs with, and test its models. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { toUtcDay } from "../../src/lib/clock.ts";
import { expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { type Dashboard, openDashboard } from "../support/dashboard.ts";

let server: TestServer;
let operator: Dashboard;
beforeAll(async () => {
  server = await startTestServer({
    environment: { COMPANIOND_PRICES: JSON.stringify({ "default/test-model": { input: 1, output: 2 } }) },
  });
  operator = await openDashboard(server, { role: "operator" });
});
afterAll(() => server.close());

const facts = {
  ...{ protocol: 1, version: "1.0.0", commit: null, pid: 7, started_at: null, uptime_seconds: 60 },
  ...{ user: { uid: 1, name: "companiond" }, data_dir: "/data", redis: null, listening: ["http://127.0.0.1:1"] },
  storage: { engine: "embedded" as const, database: "in /data" },
  ...{ metrics_url: null, public_url: null, voice: null, certificate: null, is_draining: false, open_replies: 0 },
  language_model: { is_demo: false, providers: [], default_model: "test-model", models: [], embedding_model: null },
  backups: { cron: null, dir: "/data/backups", keep: 7, succeeded: 0, failed: 0, last_success_at: null },
  settings: [{ name: "OPENAI_API_KEY", source: "environment" }],
};

test("operators alone read what the checks found, the gravest first, made once for all who ask within a minute", async () => {
  let checks = 0;
  server.services.serverReports.check = async () => {
    checks++;
    const finding = (name: string, status: "ok" | "fail") => ({ name, status, detail: `${name}.`, advice: null });
    const off = { ...finding("voice provider", "ok"), is_off: true };
    return { ...facts, findings: [off, finding("clock", "ok"), finding("database", "fail")] };
  };
  const owner = await openDashboard(server);
  expectProblem(await owner.call("GET", "/api/server"), 403, "insufficient_scope");
  expectProblem(await owner.call("POST", "/api/server/test-model", { model: "test-model" }), 403, "insufficient_scope");
  const read = () => operator.call("GET", "/api/server");
  const [one, two] = await Promise.all([read(), read()]);
  const third = await read();
  expect(checks).toBe(1);
  expect([two.json, third.json]).toEqual([one.json, one.json]);
  expect(one.json.findings).toMatchObject([
    { name: "database", is_off: false },
    { name: "clock", is_off: false },
    { name: "voice provider", is_off: true },
  ]);
  expect(one.json).toMatchObject({ version: "1.0.0", recent_failures: [], settings: facts.settings });
  expect(one.json).not.toHaveProperty("pid");
});

test("a model is asked for one word, which counts under the account, and what its provider refuses is explained", async () => {
  const ask = (model = "test-model") => operator.call("POST", "/api/server/test-model", { model });
  expectInvalid(await ask("another"), ["model"]);
  const first = await ask();
  expect(first.status).toBe(200);
  expect(first.json).toMatchObject({ ok: true, text: expect.any(String), kind: null, detail: null });
  expect(first.json.first_text_ms).toBeNumber();
  expect(first.json.cost_micros).toBeNumber();
  server.mockLlm.respond((_, response) => response.send(401, { "Content-Type": "application/json" }, '{"error":{}}'));
  expect((await ask()).json).toMatchObject({ ok: false, text: null, kind: "refused_key" });
  const day = toUtcDay(Date.now());
  const query = { fromDay: day, toDay: day, groupBy: ["companion" as const], companionId: null, metadata: [] };
  const rows = await server.services.store.usage.query(operator.account.id, query);
  expect(rows.filter(({ companionId }) => companionId !== null)).toMatchObject([
    { companionId: operator.account.id, messages: 0, outputTokens: 7, errors: 1, costMicros: first.json.cost_micros },
  ]);
});

test("one test runs at a time, and none where spending is stopped", async () => {
  const other = await openDashboard(server, { role: "operator" });
  const ask = () => other.call("POST", "/api/server/test-model", { model: "test-model" });
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  server.mockLlm.respond(async (_, response) => {
    asked.resolve();
    await answer.promise;
    response.send(404, { "Content-Type": "application/json" }, '{"error":{}}');
  });
  const first = ask();
  await asked.promise;
  expectProblem(await ask(), 409, "conflict");
  answer.resolve();
  expect((await first).json).toMatchObject({ ok: false, kind: "unknown_model" });
  await other.call("POST", "/api/spending-stops", { account_id: other.account.id });
  expect(expectProblem(await ask(), 503, "unavailable").json.detail).toStartWith("Spending is stopped.");
});
