/** The log has one line per request, by route; lines are complete JSON, or readable at a terminal. */
import { afterEach, expect, test } from "bun:test";
import { AppError } from "../../src/domain/errors.ts";
import { openLog, type RequestFields } from "../../src/lib/log.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";

let server: TestServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

async function linesAfter(requests: (server: TestServer) => Promise<unknown>, count: number): Promise<RequestFields[]> {
  server = await startTestServer();
  const { log } = server;
  await requests(server);
  const lines = () => log.events.filter(({ event }) => event === "request");
  await eventually(() => lines().length >= count);
  return lines().map(({ fields }) => fields as unknown as RequestFields);
}

test("writes one line per request with id, method, route, status, time and a cut address", async () => {
  let id: string | null = null;
  const [line, ...more] = await linesAfter(async ({ url, createCompanion }) => {
    const { embedToken } = await createCompanion();
    const response = await fetch(`${url}/api/embed/${embedToken}?secret=in-the-query`);
    id = response.headers.get("x-request-id");
    await response.text();
  }, 1);
  expect(more).toEqual([]);
  expect(line).toEqual({
    requestId: expect.any(String),
    method: "GET",
    route: "/api/embed/:token",
    status: 200,
    durationMs: expect.any(Number),
    client: "127.0.0.0/24",
  });
  expect(line?.requestId).toBe(String(id));
});

test("logs a stream at its end, with how it ended", async () => {
  const lines = await linesAfter(async ({ url, createCompanion }) => {
    const { embedToken } = await createCompanion();
    for (const message of ["Hello", "[[words:9]][[cut:2]]", "[[fail:401]]"]) {
      const response = await fetch(`${url}/api/embed/${embedToken}/chat`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ message }),
      });
      await response.text();
    }
  }, 3);
  expect(lines.map(({ route, status, stream }) => [route, status, stream?.outcome])).toEqual([
    ["/api/embed/:token/chat", 200, "complete"],
    ["/api/embed/:token/chat", 200, "broken"],
    ["/api/embed/:token/chat", 502, undefined],
  ]);
  expect(lines[0]?.stream?.firstTextMs).toBeGreaterThan(0);
});

test("invents no routes and no methods, whatever is requested", async () => {
  const lines = await linesAfter(async ({ url }) => {
    await fetch(`${url}/wp-admin/"},{"x":"`);
    await fetch(`${url}/healthz`, { method: "OPTIONS" });
    await fetch(`${url}/healthz`, { method: "TRACE" }).catch(() => {});
    await fetch(`${url}/healthz`, { method: "HEAD" });
  }, 3);
  const routes = new Set(lines.map(({ method, route }) => `${method} ${route}`));
  for (const known of routes)
    expect(["GET unmatched", "OPTIONS /*", "other unmatched", "HEAD /healthz"]).toContain(known);
});

test("suppresses a flood of refusals, reports its size, and hides nothing else", async () => {
  const flooded = await startTestServer({ environment: { COMPANIOND_RATE_PER_IP: "40" } });
  const { embedToken } = await flooded.createCompanion();
  const ask = (path: string) => fetch(`${flooded.url}${path}`).then((response) => response.text());
  for (let at = 0; at < 50; at++) {
    await ask(`/nothing-${at}`);
    await ask("/api/companions");
    await ask(`/api/embed/${at % 10 === 0 ? embedToken : `emb_${"x".repeat(32)}`}`);
    await ask("/healthz");
  }
  await flooded.close();
  const lines = flooded.log.events.filter(({ event }) => event === "request").map(({ fields }) => fields);
  const count = (route: string, status: number) =>
    lines.filter((line) => line.route === route && line.status === status).length;
  expect(count("/healthz", 200)).toBe(50);
  expect(count("/api/embed/:token", 200)).toBe(4);
  expect(count("unmatched", 404)).toBe(10);
  expect(count("/api/companions", 401)).toBe(10);
  expect(count("/api/embed/:token", 404)).toBe(10);
  expect(count("/api/embed/:token", 429)).toBe(10);
  const told = flooded.log.events.filter(({ event }) => event.startsWith("refused requests"));
  expect(told.map(({ fields }) => [fields.route, fields.status, fields.count])).toEqual([
    ["unmatched", 404, 40],
    ["/api/companions", 401, 40],
    ["/api/embed/:token", 404, 26],
  ]);
  // The metrics count them all.
  const counted = flooded.services.measurements.routes.find(({ route }) => route === "unmatched");
  expect(counted?.statuses.get(404)).toBe(50);
});

const fields: RequestFields = {
  requestId: "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10",
  method: "POST",
  route: "/api/embed/:token/chat",
  status: 200,
  durationMs: 1234.56789,
  client: "203.0.113.0/24",
  stream: { outcome: "left", firstTextMs: null },
};

test("writes JSON lines, those of requests in order with the others", async () => {
  let written = "";
  const { log, flush } = openLog({ level: "info", format: "json", write: (lines) => (written += lines) });
  log.info("before");
  log.request(fields);
  log.warn("after");
  flush();
  const lines = written
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map(({ event }) => event)).toEqual(["before", "request", "after"]);
  expect(lines[1]).toEqual({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    level: "info",
    event: "request",
    request_id: fields.requestId,
    method: "POST",
    route: "/api/embed/:token/chat",
    status: 200,
    duration_ms: 1234.568,
    client: "203.0.113.0/24",
    outcome: "left",
    first_text_ms: null,
  });
});

test("names fields alike on every line, and logs the causes of errors without secrets", () => {
  let written = "";
  const { log, flush } = openLog({ level: "info", format: "json", write: (lines) => (written += lines) });
  const error = new Error("outer", { cause: new Error(`refused emb_${"x".repeat(32)}`) });
  log.warn("failed", { requestId: "r", delayMs: 3, error });
  flush();
  expect(JSON.parse(written)).toMatchObject({
    request_id: "r",
    delay_ms: 3,
    error: { message: "outer", cause: { message: "refused emb_[redacted]" } },
  });
});

test("writes lines of requests by itself, without another event", async () => {
  let written = "";
  const { log } = openLog({ level: "info", format: "json", write: (lines) => (written += lines) });
  log.request(fields);
  await eventually(() => written !== "");
  expect(JSON.parse(written)).toMatchObject({ event: "request" });
});

test("is readable at a terminal", () => {
  let written = "";
  const { log, flush } = openLog({ level: "info", format: "text", write: (lines) => (written += lines) });
  log.request(fields);
  flush();
  expect(written).toMatch(
    /^\d\d:\d\d:\d\d INFO {2}POST \/api\/embed\/:token\/chat 200 left 1234\.568 ms 203\.0\.113\.0\/24 0192f3c1-/,
  );
});

test("leaves requests out at level warn", () => {
  let written = "";
  const { log, flush } = openLog({ level: "warn", format: "json", write: (lines) => (written += lines) });
  log.request(fields);
  log.info("nothing");
  flush();
  expect(written).toBe("");
});

test("keeps a bounded amount for a reader who has stopped reading, and reports afterwards what was lost", async () => {
  const written: string[] = [];
  const { promise: isReadAgain, resolve: readAgain } = Promise.withResolvers<void>();
  const write = (lines: string) => {
    written.push(lines);
    return isReadAgain;
  };
  const { log, flush } = openLog({ level: "info", format: "json", write });
  const filler = "x".repeat(1024 * 1024);
  for (let i = 0; i < 20; i++) {
    log.info("large", { filler });
    flush();
  }
  const heldMiB = written.join("").length / 1024 / 1024;
  expect(heldMiB).toBeGreaterThan(6);
  expect(heldMiB).toBeLessThan(9);
  const keptCount = written.length;
  readAgain();
  await eventually(() => written.length > keptCount);
  expect(JSON.parse(written.at(-1) ?? "")).toMatchObject({
    level: "warn",
    event: "log lines were lost: their reader was too slow",
    count: 20 - keptCount,
  });
});

test("tells of a server that is not ready once, and once of its being ready again", async () => {
  const lines = await linesAfter(async ({ url, services }) => {
    const { store } = services;
    const check = store.check;
    const probe = async () => (await fetch(`${url}/readyz`)).status;
    expect([await probe(), await probe()]).toEqual([200, 200]);
    store.check = () => Promise.reject(new AppError("unavailable", "The database is out of reach."));
    expect([await probe(), await probe(), await probe()]).toEqual([503, 503, 503]);
    store.check = check;
    expect([await probe(), await probe()]).toEqual([200, 200]);
  }, 2);
  expect(lines.map(({ route, status }) => [route, status])).toEqual([
    ["/readyz", 503],
    ["/readyz", 200],
  ]);
});
