/**
 * What is shipped for operators is true: units, image, rules and dashboard against the program, promtool
 * (/usr/bin/promtool) and systemd (/usr/bin/systemd-analyze).
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Domains, serveDomains } from "../../src/cli/domains.ts";
import { plainUser } from "../../src/cli/process-user.ts";
import { makeSealingKey } from "../../src/lib/sealing.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { type Metrics, readMetrics } from "../support/metrics.ts";
import { createMigratedDatabase } from "../support/postgres-store.ts";
import { type RedisServer, startRedisServer } from "../support/redis-server.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const root = join(import.meta.dir, "../..");
const token = "a-token-for-the-scraper";
/** One that has everything in its data directory, and one that shares its data with others. */
let servers: TestServer[];
let redis: RedisServer;
let database: Awaited<ReturnType<typeof createMigratedDatabase>>;
let metrics: Metrics[];
let domains: Domains | null = null;
const providers = temporaryDirectory();

function read(file: string): string {
  return readFileSync(join(root, "deploy", file), "utf8");
}

async function run(command: string[], input = ""): Promise<{ exitCode: number; output: string }> {
  const child = Bun.spawn(command, { stdin: new Blob([input]), stdout: "pipe", stderr: "pipe" });
  const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, output: out + error };
}

beforeAll(async () => {
  redis = await startRedisServer();
  database = await createMigratedDatabase();
  const shared = { DATABASE_URL: database.url, REDIS_URL: redis.url, COMPANIOND_SECRET_KEY: makeSealingKey() };
  const alone = {
    DATABASE_URL: "",
    REDIS_URL: "",
    COMPANIOND_DOMAIN: "chat.example.com",
    COMPANIOND_PROVIDERS_FILE: providers.file("providers.json"),
  };
  const chain = '{"providers":[],"models":{"chain":["default/one","default/another"]}}';
  writeFileSync(alone.COMPANIOND_PROVIDERS_FILE, chain);
  servers = [
    await startTestServer({ environment: { COMPANIOND_METRICS_TOKEN: token, ...alone } }),
    await startTestServer({ environment: { COMPANIOND_METRICS_TOKEN: token, ...shared } }),
  ];
  domains = servePlainHttp(servers[0]);
  metrics = await Promise.all(servers.map(measure));
});
afterAll(async () => {
  await domains?.close();
  for (const server of servers) await server.close();
  await database.drop();
  await redis[Symbol.asyncDispose]();
  providers[Symbol.dispose]();
});

/** As under `--domain`, but no authority is asked for anything. */
function servePlainHttp(server: TestServer | undefined): Domains | null {
  const { services } = server ?? {};
  if (services === undefined || services.certificates === null) return null;
  const acme = { domains: ["chat.example.com"], email: null, directory: "http://127.0.0.1:1/", httpPort: 0 };
  return serveDomains({
    config: { publicUrl: null, server: { host: "127.0.0.1", port: 0, tls: null, acme, trustProxy: 0 } },
    services,
    server: { port: 443, replaceCertificate() {} },
    certificates: { ...services.certificates, start() {} },
    user: plainUser,
  });
}

async function measure(server: TestServer): Promise<Metrics> {
  const { embedToken } = await server.createCompanion();
  const message = JSON.stringify({ message: "Hello" });
  const headers = { "content-type": "application/json" };
  await (await fetch(`${server.url}/api/embed/${embedToken}/chat`, { method: "POST", headers, body: message })).text();
  // Metrics that only some servers have.
  server.services.measurements.backups.lastSuccessAtMs = Date.now();
  Object.assign(server.services.measurements, { uploadsScheduledAtMs: Date.now() });
  Object.assign(server.services.measurements.backupUploads, { lastSuccessAtMs: Date.now() });
  server.services.measurements.backupsScheduledAtMs = Date.now();
  for (const part of ["certificate", "model_shutdown"]) {
    const probe = server.services.measurements.probes.find(({ name }) => name.includes(part));
    Object.assign(probe ?? {}, { read: () => Date.now() / 1000 });
  }
  const response = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  return readMetrics(await response.text());
}

/** Every name in a query that is neither part of the language nor a label. */
function namesIn(text: string): string[] {
  return [...new Set(text.match(/\b(?:companiond|process)_\w+/g))];
}

function isKnown(name: string): boolean {
  const family = name.replace(/_(?:bucket|sum|count)$/, "");
  return metrics.some(({ families }) => families.includes(name) || families.includes(family));
}

test.each([["prometheus-rules.yaml"], ["grafana-dashboard.json"]])("every metric that %s names is there", (file) => {
  const names = namesIn(read(file));
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => !isKnown(name))).toEqual([]);
});

test("every metric of the program is on the dashboard or in a rule, or in the page on monitoring", () => {
  const guide = readFileSync(join(root, "docs/monitoring.md"), "utf8");
  const told = read("prometheus-rules.yaml") + read("grafana-dashboard.json") + guide;
  const families = metrics.flatMap((one) => one.families);
  expect(families.filter((name) => !told.includes(name))).toEqual([]);
});

test("promtool accepts the rules, and finds no problem in the metrics", async () => {
  const rules = await run(["/usr/bin/promtool", "check", "rules", join(root, "deploy/prometheus-rules.yaml")]);
  expect({ ...rules, output: rules.output.includes("SUCCESS") }).toEqual({ exitCode: 0, output: true });
  for (const { text } of metrics) {
    expect(await run(["/usr/bin/promtool", "check", "metrics"], text)).toEqual({ exitCode: 0, output: "" });
  }
});

test("backups that do not leave the machine are an alarm, and so are uploads that never succeed", async () => {
  using dir = temporaryDirectory();
  const [day, start] = [86_400, "companiond_backup_upload_schedule_start_timestamp_seconds"];
  const success = "companiond_backup_upload_last_success_timestamp_seconds";
  const alarms = (...instances: string[]) =>
    instances.map((instance) => ({
      exp_labels: { severity: "warning", instance },
      exp_annotations: { summary: "No scheduled backup has left the machine for more than two days." },
    }));
  const alarm = (eval_time: string, ...instances: string[]) => ({
    ...{ eval_time, alertname: "CompaniondBackupUploadOld" },
    exp_alerts: alarms(...instances),
  });
  const series = [
    { series: `${start}{instance="never"}`, values: "0+0x96" },
    { series: `${start}{instance="once"}`, values: "0+0x96" },
    { series: `${success}{instance="once"}`, values: `${day}+0x96` },
    { series: 'companiond_backup_uploads_total{instance="once",outcome="failed"}', values: "0+0x48 1+0x48" },
  ];
  const failing = {
    exp_labels: { severity: "critical", instance: "once", outcome: "failed" },
    exp_annotations: { summary: "A scheduled backup was made, but could not be uploaded. The log has the reason." },
  };
  const alert_rule_test = [
    alarm("47h"),
    alarm("50h", "never"),
    alarm("74h", "never", "once"),
    { eval_time: "40h", alertname: "CompaniondBackupUploadFailing", exp_alerts: [] },
    { eval_time: "50h", alertname: "CompaniondBackupUploadFailing", exp_alerts: [failing] },
  ];
  const tests = {
    rule_files: [join(root, "deploy/prometheus-rules.yaml")],
    evaluation_interval: "1h",
    tests: [{ interval: "1h", input_series: series, alert_rule_test }],
  };
  writeFileSync(dir.file("uploads.yaml"), JSON.stringify(tests));
  const { exitCode, output } = await run(["/usr/bin/promtool", "test", "rules", dir.file("uploads.yaml")]);
  expect({ exitCode, output }).toMatchObject({ exitCode: 0, output: expect.stringContaining("SUCCESS") });
});

test("an old backup is an alarm, and so are backups that are scheduled and never succeed", async () => {
  using dir = temporaryDirectory();
  const started = (instance: string) =>
    `companiond_backup_schedule_start_timestamp_seconds{instance="${instance}", job="companiond"}`;
  const succeeded = (instance: string) =>
    `companiond_backup_last_success_timestamp_seconds{instance="${instance}", job="companiond"}`;
  const day = 86_400;
  const tests = {
    rule_files: [join(root, "deploy/prometheus-rules.yaml")],
    evaluation_interval: "1h",
    tests: [
      {
        interval: "1h",
        input_series: [
          { series: started("never"), values: "0+0x96" },
          { series: started("daily"), values: "0+0x96" },
          { series: succeeded("daily"), values: `${day}+0x24 ${2 * day}+0x72` },
          { series: started("no more"), values: "0+0x96" },
          { series: succeeded("no more"), values: `${day}+0x96` },
        ],
        alert_rule_test: [
          { eval_time: "47h", alertname: "CompaniondBackupOld", exp_alerts: [] },
          { eval_time: "50h", alertname: "CompaniondBackupOld", exp_alerts: [alarmOf("never")] },
          { eval_time: "74h", alertname: "CompaniondBackupOld", exp_alerts: [alarmOf("never"), alarmOf("no more")] },
        ],
      },
    ],
  };
  writeFileSync(dir.file("tests.yaml"), JSON.stringify(tests));
  const { exitCode, output } = await run(["/usr/bin/promtool", "test", "rules", dir.file("tests.yaml")]);
  expect({ exitCode, output }).toMatchObject({ exitCode: 0, output: expect.stringContaining("SUCCESS") });
});

function alarmOf(instance: string) {
  return {
    exp_labels: { severity: "warning", instance, job: "companiond" },
    exp_annotations: { summary: "No scheduled backup has succeeded for more than two days." },
  };
}

test("the dashboard is one that Grafana can import, with a query in every panel", () => {
  const dashboard: { panels: { id: number; title: string; targets: { expr: string }[] }[] } = JSON.parse(
    read("grafana-dashboard.json"),
  );
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  for (const { title, targets } of dashboard.panels) {
    expect(title).not.toBe("");
    for (const { expr } of targets) expect(expr).toMatch(/\b(?:companiond|process)_\w+/);
  }
});

test("systemd accepts the unit, and finds it well sandboxed", async () => {
  using dir = temporaryDirectory();
  // The program that it names must exist to verify it.
  writeFileSync(dir.file("companiond"), "#!/bin/sh\n");
  chmodSync(dir.file("companiond"), 0o755);
  const unit = dir.file("companiond.service");
  const text = read("companiond.service");
  expect(text).toContain("/usr/local/bin/companiond");
  for (const said of ["Type=notify", "NotifyAccess=main", "WatchdogSec=30"]) expect(text.split("\n")).toContain(said);
  writeFileSync(unit, text.replace("/usr/local/bin/companiond", dir.file("companiond")));
  expect(await run(["/usr/bin/systemd-analyze", "verify", "--man=no", unit])).toEqual({ exitCode: 0, output: "" });
  const security = ["security", "--offline=true", "--no-pager", "--threshold=20", unit];
  const judged = await run(["/usr/bin/systemd-analyze", ...security]);
  expect(judged.output).toMatch(/Overall exposure level for companiond\.service: [01]\.\d OK/);
  expect(judged.exitCode).toBe(0);
});

test("the image is built with the Bun of this project, runs as nobody, and has a health check", () => {
  const dockerfile = read("Dockerfile");
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(dockerfile).toContain(`FROM oven/bun:${devDependencies["bun-types"]}-`);
  const lines = dockerfile.split("\n");
  const users = lines.filter((line) => line.startsWith("USER "));
  expect(users).toEqual(["USER 65532:65532"]);
  expect(lines.findIndex((line) => line.startsWith("USER "))).toBeLessThan(
    lines.findIndex((line) => line.startsWith("ENTRYPOINT ")),
  );
  expect(dockerfile).toContain("http://127.0.0.1:3000/healthz");
});

test("the compose file gives the drain its time, and files that exist", () => {
  const compose = Object(Bun.YAML.parse(read("compose.yaml")));
  const { companiond, caddy } = compose.services;
  expect(Number.parseInt(companiond.stop_grace_period, 10)).toBeGreaterThan(30);
  expect(companiond.environment.COMPANIOND_TRUST_PROXY).toBe("1");
  expect(companiond.build.dockerfile).toBe("deploy/Dockerfile");
  expect(caddy.volumes).toContain("./Caddyfile:/etc/caddy/Caddyfile:ro");
  expect(read("Caddyfile")).toContain("{$UPSTREAM:");
});
