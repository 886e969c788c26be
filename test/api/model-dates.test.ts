/** Models that their provider shuts down: told to operators before the day, from the provider's own list. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createModelDates } from "../../src/core/metrics/model-dates.ts";
import { listShutdownDates } from "../../src/engines/openai/models.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { openDashboard } from "../support/dashboard.ts";
import { eventually } from "../support/eventually.ts";
import { readMetrics } from "../support/metrics.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";

const metricsToken = "a-metrics-token-of-32-characters";
let server: TestServer;
let mock: MockLlm;

beforeAll(async () => {
  mock = await startMockLlm();
  mock.answerList = (response) =>
    response.send(200, { "Content-Type": "application/json" }, JSON.stringify({ object: "list", data: models }));
  server = await startTestServer({
    modelDatesAfterMs: 0,
    environment: {
      OPENAI_BASE_URL: `${mock.url}/v1`,
      COMPANIOND_MODEL: "ending",
      COMPANIOND_MODELS: "gone,lasting",
      COMPANIOND_METRICS_TOKEN: metricsToken,
    },
  });
});
afterAll(async () => {
  await server.close();
  await mock.close();
});

const models = [
  { id: "ending", object: "model", shutdown_date: "2199-12-11" },
  { id: "gone", object: "model", shutdown_date: "2026-01-01" },
  { id: "lasting", object: "model", shutdown_date: null },
  { id: "nobody's", object: "model", shutdown_date: "2199-01-01" },
];

test("are in the operator's status with how many companions they concern, in the log and in the metrics", async () => {
  const account = await server.createAccount();
  await server.createCompanion({}, account);
  await server.createCompanion({ model: "ending" }, account);
  await server.createCompanion({ model: "gone" }, account);
  await server.createCompanion({ model: "lasting" }, account);
  const operator = await openDashboard(server, { role: "operator" });
  await eventually(() => server.services.modelDates.list().length > 0);
  const { json } = await operator.call("GET", "/api/status");
  expect(json.retiring_models).toEqual([
    { provider: "default", model: "gone", shutdown_date: "2026-01-01", companions: 1 },
    { provider: "default", model: "ending", shutdown_date: "2199-12-11", companions: 2 },
  ]);
  const logged = server.log.events.filter(({ event }) => event === "model shuts down");
  expect(logged).toContainEqual({
    level: "warn",
    event: "model shuts down",
    fields: { provider: "default", model: "ending", shutdown_date: "2199-12-11" },
  });
  expect(logged).toHaveLength(2);
  const [asked, ...others] = mock.modelLists;
  expect(others).toEqual([]);
  expect(asked).toMatchObject({ method: "GET", path: "/v1/models" });
  expect(asked?.headers.authorization).toBe("Bearer sk-test-key-of-the-mock");
  const scraped = await fetch(`${server.url}/metrics`, { headers: { Authorization: `Bearer ${metricsToken}` } });
  const labels = { provider: "default", model: "ending" };
  expect(readMetrics(await scraped.text()).value("companiond_model_shutdown_timestamp_seconds", labels)).toBe(
    Date.parse("2199-12-11") / 1000,
  );
});

test("are asked for once a day of those that tell dates, and once of those that tell none", async () => {
  const asked = { dated: 0, undated: 0, silent: 0 };
  const log = createCapturedLog();
  const dates = createModelDates({
    answerers: [
      { provider: "dated", model: "ending" },
      { provider: "undated", model: "any" },
      { provider: "silent", model: "any" },
    ],
    async ask(provider) {
      asked[provider as keyof typeof asked]++;
      if (provider === "silent") throw new Error("it is away");
      if (provider === "undated") return { knowsDates: false, byModel: new Map() };
      // The provider takes it back.
      return { knowsDates: true, byModel: new Map(asked.dated < 3 ? [["ending", "2199-12-11"]] : []) };
    },
    ...{ log, measurements: server.services.measurements },
    firstMs: 0,
    intervalMs: 0,
  });
  dates.start();
  await eventually(() => asked.dated > 3);
  dates.stop();
  expect(asked.undated).toBe(1);
  expect(asked.silent).toBeGreaterThan(2);
  expect(dates.list()).toEqual([]);
  expect(log.events).toHaveLength(2);
});

test.each([
  ["an error", 401, { error: { message: "Incorrect API key provided" } }],
  ["a page", 200, "<html></html>"],
  ["another list", 200, { models: [] }],
])("%s in place of a list is passed over", async (_name, status, body) => {
  const other = await startMockLlm();
  other.answerList = (response) => response.send(status, {}, typeof body === "string" ? body : JSON.stringify(body));
  const place = { apiKey: null, baseUrl: `${other.url}/v1`, headers: {} };
  expect(await listShutdownDates(place, AbortSignal.timeout(20_000))).toBeNull();
  await other.close();
});

test("a list without dates says so, and a date that is none is no date", async () => {
  const other = await startMockLlm();
  const place = { apiKey: null, baseUrl: `${other.url}/v1`, headers: {} };
  const answer = (data: unknown) => {
    other.answerList = (response) => response.send(200, {}, JSON.stringify({ data }));
  };
  answer([{ id: "llama3.2" }]);
  expect(await listShutdownDates(place, AbortSignal.timeout(20_000))).toEqual({
    knowsDates: false,
    byModel: new Map(),
  });
  answer([{ id: "one", shutdown_date: "soon" }, { id: "two", shutdown_date: 5 }, null]);
  expect(await listShutdownDates(place, AbortSignal.timeout(20_000))).toEqual({ knowsDates: true, byModel: new Map() });
  await other.close();
});
