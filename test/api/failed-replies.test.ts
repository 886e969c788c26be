/** Failing providers, as owners see them in usage and operators in the server's status. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { describeSilentModel } from "../../src/domain/reply-failure.ts";
import { toUtcDay } from "../../src/lib/clock.ts";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { openDashboard } from "../support/dashboard.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { readMetrics } from "../support/metrics.ts";

type Companion = Awaited<ReturnType<TestServer["createCompanion"]>>;

const scraper = { authorization: "Bearer scraper" };
let clock: ManualClock;
let server: TestServer;
let ada: Companion;
let grace: Companion;
let owner: ApiClient;
beforeEach(async () => {
  clock = createManualClock(Date.parse("2026-03-10T12:00:00Z"));
  server = await startTestServer({ clock, environment: { COMPANIOND_METRICS_TOKEN: "scraper" } });
  const account = await server.createAccount();
  ada = await server.createCompanion({ name: "Ada" }, account);
  grace = await server.createCompanion({ name: "Grace" }, account);
  owner = apiClient(server.url, (await server.createKey(account)).key);
});
afterEach(() => server.close());

/** Resolves with the status, once the turn is settled. */
async function say(companion: Companion, message: string): Promise<number> {
  const path = `/api/embed/${companion.embedToken}/chat`;
  const { status } = await apiClient(server.url, null).call("POST", path, { message });
  await server.services.openTurns.whenEnded();
  return status;
}

async function sayAll(companion: Companion, ...messages: string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const message of messages) statuses.push(await say(companion, message));
  return statuses;
}

async function read(path: string) {
  const response = await owner.call("GET", path);
  expect(response.status).toBe(200);
  return response.json.data;
}

test("every failed reply counts, with its kind, and costs neither quota nor leaves a conversation", async () => {
  expect(await sayAll(ada, "[[fail:500]]", "[[fail:401]]", "[[fail:429]]", "[[cut:3]] one two three")).toEqual([
    502, 502, 502, 200,
  ]);
  await owner.call("POST", `/api/companions/${grace.id}/test-chat`, { message: "[[fail:401]]" });
  await server.services.openTurns.whenEnded();
  const day = toUtcDay(clock.nowMs());
  expect(await read("/api/usage?group_by=companion")).toMatchObject([
    { companion_id: ada.id, messages: 1, errors: 4 },
    { companion_id: grace.id, messages: 0, errors: 1, input_tokens: 0 },
  ]);
  expect(await read("/api/usage/failures")).toEqual([
    { kind: "refused_key", replies: 2, last_day: day },
    { kind: "broken_off", replies: 1, last_day: day },
    { kind: "provider_error", replies: 1, last_day: day },
    { kind: "rate_limited", replies: 1, last_day: day },
  ] as never);
  expect(await read(`/api/usage/failures?companion_id=${grace.id}&from=${day}&to=${day}`)).toEqual([
    { kind: "refused_key", replies: 1, last_day: day },
  ] as never);
  expect(await read(`/api/usage/failures?to=2026-03-09`)).toEqual([]);
  // The one whose text had begun.
  expect(await read("/api/conversations")).toHaveLength(1);
  expect((await owner.call("GET", `/api/companions/${ada.id}/quota`)).json).toMatchObject({ used: 1 });
  expect((await owner.call("GET", `/api/companions/${grace.id}/quota`)).json).toMatchObject({ used: 0 });

  const scrape = await fetch(`${server.url}/metrics`, { headers: scraper });
  const metrics = readMetrics(await scrape.text());
  const failed = (kind: string) => metrics.value("companiond_failed_replies_total", { kind });
  expect(["refused_key", "rate_limited", "broken_off", "empty"].map(failed)).toEqual([2, 1, 1, 0]);
});

test("a reply that a retry saved is no failure", async () => {
  expect(await say(ada, "[[fail:500]] [[times:1]] hi")).toBe(200);
  expect(await read("/api/usage/failures")).toEqual([]);
});

test("is open to its account and scope alone, and takes what it knows", async () => {
  await say(ada, "[[fail:401]]");
  const other = await server.createAccount();
  const stranger = apiClient(server.url, (await server.createKey(other)).key);
  for (const query of ["", `?companion_id=${ada.id}`]) {
    expect((await stranger.call("GET", `/api/usage/failures${query}`)).json.data).toEqual([]);
  }
  const narrow = apiClient(server.url, (await server.createKey(other, ["companions:read"])).key);
  expectProblem(await narrow.call("GET", "/api/usage/failures"), 403, "insufficient_scope");
  expectInvalid(await owner.call("GET", "/api/usage/failures?from=x&companion_id=y&group_by=day"), [
    "from",
    "companion_id",
    "group_by",
  ]);
});

describe("the server's status", () => {
  async function readSilent(): Promise<Record<string, unknown>[]> {
    const operator = await openDashboard(server, { role: "operator", email: `operator-${Math.random()}@example.com` });
    const response = await operator.call("GET", "/api/status");
    expect(response.status).toBe(200);
    return response.json.silent_models as Record<string, unknown>[];
  }

  test("reports a refused key at once, in the words of doctor, until a reply is complete again", async () => {
    expect(await readSilent()).toEqual([]);
    await sayAll(ada, "[[fail:401]]", "[[fail:401]]");
    const reason = "the provider answered 401 Incorrect API key provided: ";
    const place = { baseUrl: `${server.mockLlm.url}/v1`, named: null };
    const { detail, advice } = describeSilentModel("test-model", place, "refused_key", reason);
    const [found, ...others] = await readSilent();
    expect(others).toEqual([]);
    expect(found).toMatchObject({ kind: "refused_key", replies: 2, advice, since: "2026-03-10T12:00:00.000Z" });
    expect(found?.detail).toStartWith(detail.trim());
    expect(JSON.stringify(found)).not.toMatch(/sk-\w/);
    await say(ada, "Hello");
    expect(await readSilent()).toEqual([]);
  });

  test("reports what may pass only after several in a row, and nothing for ever", async () => {
    await sayAll(ada, "[[cut:3]] one two three", "[[cut:3]] one two three");
    expect(await readSilent()).toEqual([]);
    await say(ada, "[[cut:3]] one two three");
    expect(await readSilent()).toMatchObject([{ kind: "broken_off", replies: 3 }]);
    clock.advance(25 * 3_600_000);
    expect(await readSilent()).toEqual([]);
  });

  test("names no model for what a provider filtered, which visitors can bring about", async () => {
    const filtered = JSON.stringify({ error: { message: "no", code: "content_filter", param: "prompt" } });
    server.mockLlm.respond((_, response) => response.send(400, {}, filtered));
    const statuses = await sayAll(ada, "one", "two", "three", "four");
    server.mockLlm.respond(null);
    expect(statuses).toEqual([502, 502, 502, 502]);
    expect(await readSilent()).toEqual([]);
  });

  test("is closed to owners and keys", async () => {
    const dashboard = await openDashboard(server);
    expectProblem(await dashboard.call("GET", "/api/status"), 403, "insufficient_scope");
    expectProblem(await owner.call("GET", "/api/status"), 403, "insufficient_scope");
    expectProblem(await apiClient(server.url, null).call("GET", "/api/status"), 401, "unauthorized");
  });
});
