/** The executable in operation: one server per directory, backups beside it, restarts, metrics on a separate port. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, statSync } from "node:fs";
import { eventually } from "../support/eventually.ts";
import { runExecutable, startExecutable } from "../support/executable.ts";
import { readMetrics } from "../support/metrics.ts";
import { startMockLlm } from "../support/mock-llm.ts";
import { temporaryDirectory } from "../support/temporary.ts";

test("refuses a data directory that another server serves from, with a sentence", async () => {
  await using server = await startExecutable();
  const { exitCode, stdout, stderr } = await runExecutable(["serve", "--port", "0", "--data-dir", server.dataDir]);
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/"event":"serve failed".*\n$/)]);
  expect(JSON.parse(stdout)).toMatchObject({
    event: "serve failed",
    problems: [`another companiond serves from ${server.dataDir}. Stop it first, or choose another data directory.`],
  });
  // Commands work beside it, and the refused start did no harm.
  expect((await runExecutable(["account", "list", "--data-dir", server.dataDir])).exitCode).toBe(0);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
});

test("starts again on the directory of a server that was killed", async () => {
  using data = temporaryDirectory();
  const first = await startExecutable({ dataDir: data.path });
  await first.kill();
  await using second = await startExecutable({ dataDir: data.path });
  expect((await fetch(`${second.url}/readyz`)).status).toBe(200);
  expect(await second.stop()).toBe(0);
});

test("creates its directory with access for its user only, and warns of one that others may write in", async () => {
  await using own = await startExecutable();
  expect(statSync(own.dataDir).mode & 0o777).toBe(0o700);
  expect(own.log.filter(({ event }) => event.includes("data directory"))).toEqual([]);
  using shared = temporaryDirectory();
  chmodSync(shared.path, 0o777);
  await using server = await startExecutable({ dataDir: shared.path });
  expect(await server.logged("the data directory is unsafe")).toMatchObject({
    level: "warn",
    sentence: expect.stringContaining("mode 777"),
    advice: `chmod 700 ${shared.path}`,
  });
});

test("refuses to restore over a running server, and restores once it has stopped", async () => {
  using files = temporaryDirectory();
  using data = temporaryDirectory();
  const server = await startExecutable({ dataDir: data.path, args: ["--demo"] });
  const dir = ["--data-dir", data.path];
  expect((await runExecutable(["backup", files.file("a.db"), ...dir])).exitCode).toBe(0);
  const refused = await runExecutable(["restore", files.file("a.db"), ...dir]);
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("another companiond serves from");
  expect(await server.stop()).toBe(0);
  const restored = await runExecutable(["restore", files.file("a.db"), ...dir, "--json"]);
  expect({ exitCode: restored.exitCode, stderr: restored.stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(existsSync(JSON.parse(restored.stdout).kept_as)).toBe(true);
  await using again = await startExecutable({ dataDir: data.path });
  expect((await fetch(`${again.url}/readyz`)).status).toBe(200);
});

test("backs up beside a stream, which continues meanwhile", async () => {
  using files = temporaryDirectory();
  const mock = await startMockLlm();
  await using server = await startExecutable({ args: ["--demo"], env: { OPENAI_BASE_URL: `${mock.url}/v1` } });
  await eventually(() => server.stderr.includes("/chat"));
  const token = /emb_[0-9A-Za-z]{32}/.exec(server.stderr)?.[0] ?? "";
  const response = await fetch(`${server.url}/api/embed/${token}/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message: "[[words:40]][[delay:10]]" }),
  });
  const streaming = response.text();
  const { exitCode } = await runExecutable(["backup", files.file("a.db"), "--data-dir", server.dataDir]);
  expect(exitCode).toBe(0);
  expect(await streaming).toEndWith("data: [DONE]\n\n");
  expect(readdirSync(files.path)).toEqual(["a.db"]);
  await server.stop();
  await mock.close();
});

test("serves metrics without a token on a loopback port of their own, and not beside the rest", async () => {
  await using server = await startExecutable({ env: { COMPANIOND_METRICS_PORT: "0" } });
  const { metrics_url: metricsUrl } = await server.logged("listening");
  expect(String(metricsUrl)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  const metrics = readMetrics(await (await fetch(String(metricsUrl))).text());
  expect(metrics.value("process_open_fds")).toBeGreaterThan(0);
  expect((await fetch(new URL("/healthz", String(metricsUrl)))).status).toBe(404);
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
});

test("says which port is in use if it is the metrics port", async () => {
  await using server = await startExecutable();
  const port = new URL(server.url).port;
  using data = temporaryDirectory();
  const env = { COMPANIOND_METRICS_PORT: port };
  const { exitCode, stdout } = await runExecutable(["serve", "--port", "0", "--data-dir", data.path], { env });
  expect(exitCode).toBe(1);
  expect(stdout).toContain(`port ${port} of 127.0.0.1 is in use by another program`);
});

test("writes one line of JSON for each request, by route", async () => {
  await using server = await startExecutable();
  const response = await fetch(`${server.url}/healthz`);
  const line = await server.logged("request");
  expect(line).toMatchObject({ level: "info", method: "GET", route: "/healthz", status: 200, client: "127.0.0.0/24" });
  expect(line.request_id).toBe(response.headers.get("x-request-id"));
});

test("doctor asks the server what a proxy has forwarded without being trusted, though no metrics are open", async () => {
  await using server = await startExecutable();
  const find = async () => {
    const { stdout } = await runExecutable(["doctor", "--json", "--data-dir", server.dataDir]);
    return JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === "proxy headers");
  };
  expect(await find()).toMatchObject({ status: "ok", detail: "No proxy is trusted." });
  await fetch(`${server.url}/healthz`, { headers: { "X-Forwarded-For": "203.0.113.9" } });
  expect(await find()).toMatchObject({
    status: "fail",
    detail: "A proxy has forwarded 1 request, and none is trusted: all visitors share one limit.",
    advice: expect.stringContaining("COMPANIOND_TRUST_PROXY"),
  });
});
