/** What the server reports on /metrics, compared with the requests that were made. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../support/app.ts";
import { onlyOnSqlite } from "../support/engine.ts";
import { eventually } from "../support/eventually.ts";
import { readMetrics } from "../support/metrics.ts";

const token = "a-token-for-the-scraper";
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ environment: { COMPANIOND_METRICS_TOKEN: token } });
});
afterAll(() => server.close());

function scrape(authorization = `Bearer ${token}`): Promise<Response> {
  return fetch(`${server.url}/metrics`, { headers: { authorization } });
}

async function metrics() {
  return readMetrics(await (await scrape()).text());
}

function chat(embedToken: string, message: string): Promise<Response> {
  return fetch(`${server.url}/api/embed/${embedToken}/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message }),
  });
}

test("is not there while no token is set", async () => {
  const plain = await startTestServer();
  const response = await fetch(`${plain.url}/metrics`, { headers: { authorization: "Bearer " } });
  expect(response.status).toBe(404);
  await plain.close();
});

test.each(["", "Bearer", "Bearer wrong", `Basic ${token}`, `Bearer ${token}x`])("refuses %j", async (authorization) => {
  const response = await scrape(authorization);
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toBe("Bearer");
  expect(await response.json()).toMatchObject({ code: "unauthorized" });
});

test("answers in Prometheus' text format", async () => {
  const response = await scrape();
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  const text = await response.text();
  expect(text).toContain("# TYPE companiond_requests_total counter\n");
  expect(text).toContain("# TYPE companiond_request_seconds histogram\n");
});

test("counts requests by route as the sitemap has it, never by path", async () => {
  const companion = await server.createCompanion();
  const before = await metrics();
  for (let i = 0; i < 3; i++) await fetch(`${server.url}/api/embed/${companion.embedToken}?x=${i}`);
  await fetch(`${server.url}/api/embed/emb_00000000000000000000000000000000`);
  await fetch(`${server.url}/no/such/${companion.embedToken}`);
  await fetch(`${server.url}/healthz`);
  await fetch(`${server.url}/healthz`, { method: "HEAD" });
  await fetch(`${server.url}/healthz`, { method: "POST" });
  const after = await metrics();
  const counted = (labels: Record<string, string>) =>
    after.value("companiond_requests_total", labels) - before.value("companiond_requests_total", labels);
  expect(counted({ method: "GET", route: "/api/embed/:token", status: "200" })).toBe(3);
  expect(counted({ method: "GET", route: "/api/embed/:token", status: "404" })).toBe(1);
  expect(counted({ method: "GET", route: "unmatched", status: "404" })).toBe(1);
  expect(counted({ method: "GET", route: "/healthz", status: "200" })).toBe(2);
  expect(counted({ method: "POST", route: "unmatched", status: "405" })).toBe(1);
  expect(after.text).not.toContain(companion.embedToken);
  const labels = { method: "GET", route: "/api/embed/:token" };
  expect(after.value("companiond_request_seconds_count", labels)).toBeGreaterThanOrEqual(4);
  expect(after.value("companiond_request_seconds_bucket", { ...labels, le: "+Inf" })).toBe(
    after.value("companiond_request_seconds_count", labels),
  );
});

test("counts complete streams, broken ones and those that visitors left separately, and counts tokens", async () => {
  const { embedToken } = await server.createCompanion();
  const before = await metrics();
  await (await chat(embedToken, "Hello")).text();
  await (await chat(embedToken, "[[words:9]][[cut:3]]")).text().catch(() => {});
  const leaving = await chat(embedToken, "[[words:9]][[silence:3]]");
  const reader = leaving.body?.getReader();
  await reader?.read();
  expect((await metrics()).value("companiond_streams_open")).toBe(1);
  await reader?.cancel();
  const writes = (seen: typeof before) => seen.value("companiond_store_seconds_count", { kind: "write" });
  // What a visitor leaves behind is written after the stream has ended.
  await eventually(async () => {
    const now = await metrics();
    return now.value("companiond_streams_open") === 0 && writes(now) >= writes(before) + 3;
  });
  const after = await metrics();
  const grown = (name: string, labels: Record<string, string> = {}) =>
    after.value(name, labels) - before.value(name, labels);
  expect(grown("companiond_streams_total", { outcome: "complete" })).toBe(1);
  expect(grown("companiond_streams_total", { outcome: "broken" })).toBe(1);
  expect(grown("companiond_streams_total", { outcome: "left" })).toBe(1);
  expect(grown("companiond_stream_seconds_count")).toBe(3);
  expect(grown("companiond_first_text_seconds_count")).toBe(3);
  expect(grown("companiond_tokens_total", { direction: "input", by: "counted" })).toBe(11);
  expect(grown("companiond_tokens_total", { direction: "output", by: "counted" })).toBe(7);
  expect(grown("companiond_tokens_total", { direction: "output", by: "estimated" })).toBeGreaterThan(0);
  expect(grown("companiond_store_seconds_count", { kind: "read" })).toBeGreaterThanOrEqual(3);
  expect(grown("companiond_limiter_verdicts_total", { rule: "daily", verdict: "admitted" })).toBe(3);
});

test("counts a check of an API key as a read of the store, though nothing waits for it", async () => {
  const { key } = await server.createKey(await server.createAccount());
  const before = await metrics();
  for (let i = 0; i < 3; i++) {
    // A malformed id is not looked up.
    const response = await fetch(`${server.url}/api/companions/none`, { headers: { authorization: `Bearer ${key}` } });
    expect(response.status).toBe(404);
  }
  const after = await metrics();
  const reads = (seen: typeof after) => seen.value("companiond_store_seconds_count", { kind: "read" });
  expect(reads(after) - reads(before)).toBe(3);
});

test("counts what the limits admit and refuse", async () => {
  const strict = await startTestServer({
    environment: { COMPANIOND_METRICS_TOKEN: token, COMPANIOND_RATE_PER_IP: "2", COMPANIOND_DAILY_FREE: "1" },
  });
  const { embedToken } = await strict.createCompanion();
  for (let i = 0; i < 5; i++) await fetch(`${strict.url}/api/embed/${embedToken}`);
  const response = await fetch(`${strict.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const counted = readMetrics(await response.text());
  expect(counted.value("companiond_limiter_verdicts_total", { rule: "ip", verdict: "admitted" })).toBe(2);
  expect(counted.value("companiond_limiter_verdicts_total", { rule: "ip", verdict: "refused" })).toBe(3);
  await strict.close();
});

onlyOnSqlite("PostgreSQL tells its size itself")("reports the size of the database", async () => {
  expect((await metrics()).value("companiond_database_bytes", { file: "database" })).toBeGreaterThan(0);
});

test("reports the process, the event loop and the build", async () => {
  await eventually(async () => (await metrics()).value("companiond_event_loop_lag_seconds_count") > 0);
  const now = await metrics();
  expect(now.value("process_resident_memory_bytes")).toBeGreaterThan(10 * 1024 * 1024);
  expect(now.value("process_open_fds")).toBeGreaterThan(3);
  expect(now.value("process_max_fds")).toBeGreaterThan(now.value("process_open_fds"));
  expect(now.value("process_cpu_seconds_total")).toBeGreaterThan(0);
  expect(now.value("companiond_disk_free_bytes")).toBeGreaterThan(0);
  expect(now.text).toMatch(/^companiond_build_info\{version="\d+\.\d+\.\d+"/m);
});
