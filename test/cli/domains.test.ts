/** A whole server under `--domain`, with a certificates that obtains what the test gives it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { renderMetrics } from "../../src/api/metrics/service.ts";
import type { OpenedServices } from "../../src/app/opened-services.ts";
import { openServices } from "../../src/app/services.ts";
import { type Domains, serveDomains } from "../../src/cli/domains.ts";
import { plainUser } from "../../src/cli/process-user.ts";
import { loadConfig } from "../../src/config/config.ts";
import type { CertificateState, ManagedCertificates } from "../../src/contracts/certificates/certificates.ts";
import type { Certificate } from "../../src/lib/certificate.ts";
import { type RunningServer, startServer } from "../../src/server/server.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { dropEngineDatabase, engineEnvironment } from "../support/engine.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";

function createKeeper() {
  let listener: (certificate: Certificate) => void = () => {};
  const state: CertificateState = { domains: [], expiresAtMs: null, nextAttemptAtMs: null, problem: null };
  const certificates = {
    current: null,
    starts: 0,
    state,
    onChange(next: typeof listener) {
      listener = next;
    },
    findChallenge: async (token: string) => (token === "expected" ? "expected.thumbprint" : null),
    start: () => void certificates.starts++,
    lookAgain() {},
    async stop() {},
    bring: (certificate: Certificate) => listener(certificate),
  } satisfies ManagedCertificates & { starts: number; bring: (certificate: Certificate) => void };
  return certificates;
}

function readCertificate(name: string): Certificate {
  const read = (part: string) => readFileSync(join(import.meta.dir, `../fixtures/tls/${name}.${part}.pem`), "utf8");
  return { cert: read("cert"), key: read("key") };
}

const files = temporaryDirectory();
const certificates = createKeeper();
const log = createCapturedLog();
// Another program has the port of plain HTTP at first.
const blocker = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => new Response("not ours", { headers: { server: "apache" } }),
});
const httpPort = blocker.port;
let services: OpenedServices;
let server: RunningServer;
let domains: Domains;

beforeAll(async () => {
  const config = loadConfig({
    environment: {
      COMPANIOND_DATA_DIR: files.path,
      COMPANIOND_DOMAIN: "one.test,www.one.test",
      COMPANIOND_HTTPS_PORT: "0",
      COMPANIOND_HTTP_PORT: String(httpPort),
      COMPANIOND_PUBLIC_URL: "https://elsewhere.test",
      HOST: "127.0.0.1",
      ...(await engineEnvironment(files.path, {})),
    },
  });
  services = await openServices(config, { log });
  server = startServer(services, { host: config.server.host, port: config.server.port, tls: "awaited" });
  domains = serveDomains({ config, services, server, certificates, user: plainUser, retryMs: 5 });
});
afterAll(async () => {
  await server.drain(1_000);
  await domains.close();
  await blocker.stop(true);
  await dropEngineDatabase(files.path);
  files[Symbol.dispose]();
});

const ask = (path: string, init: BunFetchRequestInit = {}) =>
  fetch(`${server.url}${path}`, { ...init, tls: { rejectUnauthorized: false } });

async function readMetric(name: string): Promise<string | undefined> {
  const { text } = await renderMetrics(services);
  return new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1];
}

test("another program's port of plain HTTP is told, and nothing is asked of the authority", async () => {
  await eventually(() => log.events.some(({ event }) => event.includes("in use by another program (apache)")));
  const sentence = log.events.find(({ event }) => event.includes("apache"))?.event ?? "";
  expect(sentence).toStartWith(`port ${httpPort} of 127.0.0.1 is in use`);
  expect(sentence).toContain("set COMPANIOND_HTTP_PORT to another port");
  expect(await readMetric("companiond_http_port_open")).toBe("0");
  expect(certificates.starts).toBe(0);
});

test("a public URL of another host is pointed out", () => {
  const found = log.events.find(({ event }) => event.startsWith("COMPANIOND_PUBLIC_URL is https://elsewhere.test"));
  expect(found?.level).toBe("warn");
});

test("once the port is free, challenges are answered and a certificate is asked for", async () => {
  await blocker.stop(true);
  await eventually(() => domains.clear.failure === null);
  expect(certificates.starts).toBe(1);
  const challenge = await fetch(`http://127.0.0.1:${httpPort}/.well-known/acme-challenge/expected`);
  expect(await challenge.text()).toBe("expected.thumbprint");
  expect(await readMetric("companiond_http_port_open")).toBe("1");
  expect(await readMetric('companiond_http_port_requests_total\\{outcome="challenge"\\}')).toBe("1");
});

test("without a certificate no request is taken; with the first, it is, and without a restart", async () => {
  expect(await ask("/healthz").catch((error) => error.code)).toBe("EPROTO");
  expect(await readMetric("companiond_certificate_expiry_timestamp_seconds")).toBeUndefined();
  certificates.bring(readCertificate("one"));
  const response = await ask("/healthz");
  expect(response.status).toBe(200);
  expect(response.headers.get("strict-transport-security")).toBe("max-age=31536000");
  const expiry = new Date(Number(await readMetric("companiond_certificate_expiry_timestamp_seconds")) * 1000);
  expect(expiry.getFullYear()).toBeGreaterThan(2026);
});

test("an unusable certificate changes nothing, and is logged", async () => {
  certificates.bring({ ...readCertificate("one"), key: readCertificate("two").key });
  expect(log.events.at(-1)?.event).toBe("certificate not put to use, keeping the current one");
  expect((await ask("/healthz")).status).toBe(200);
});

test("visitors are sent to the port that HTTPS is served on", async () => {
  const found = await fetch(`http://127.0.0.1:${httpPort}/app`, { redirect: "manual" });
  expect(found.headers.get("location")).toBe(`https://one.test:${server.port}/app`);
});

test.each(["one.test", "scanner.invalid"])(
  "a request for the host %j gets links to the public URL only",
  async (host) => {
    const response = await ask("/api/companions", { headers: { host } });
    expect(response.status).toBe(401);
    expect(await response.text()).toContain('"type":"https://elsewhere.test/docs/errors#unauthorized"');
  },
);
