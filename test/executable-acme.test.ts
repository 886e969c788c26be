/** The executable under `--domain`, with Pebble as its authority: from no certificate to one, and on to the next. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, chownSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import { eventually } from "./support/eventually.ts";
import { type RunningExecutable, startExecutable } from "./support/executable.ts";
import { findLowPort } from "./support/free-port.ts";
import { startMockLlm } from "./support/mock-llm.ts";
import { type Pebble, startPebble } from "./support/pebble.ts";
import { temporaryDirectory } from "./support/temporary.ts";

const domain = "chat.example.com";
const files = temporaryDirectory();
// Below 1024, and the data is another user's: what root gave up must not be missed at the renewal.
const [httpsPort, httpPort] = [findLowPort(), findLowPort()];
const owner = 65_534;
const httpUrl = `http://127.0.0.1:${httpPort}`;
const mayAsk = Promise.withResolvers<void>();
const mock = await startMockLlm();
let pebble: Pebble | undefined;

beforeAll(async () => {
  if (!mayEnter) return;
  // The second certificate is due after four seconds.
  pebble = await startPebble({ lifeSeconds: 6 });
  pebble.answer(async (token) => {
    await mayAsk.promise;
    const response = await fetch(`${httpUrl}/.well-known/acme-challenge/${token}`);
    return response.ok ? await response.text() : null;
  });
  chmodSync(files.path, 0o711);
  mkdirSync(files.file("data"), { mode: 0o700 });
  chownSync(files.file("data"), owner, owner);
  await Bun.write(files.file("hosts"), `127.0.0.1 localhost ${domain}\n`);
});
afterAll(async () => {
  await pebble?.[Symbol.asyncDispose]();
  await mock.close();
  files[Symbol.dispose]();
});

/** With a name that leads to this machine, for itself alone. */
const enter = [
  ...["/usr/bin/unshare", "--mount", "/bin/sh", "-c"],
  ...[`mount --bind '${files.file("hosts")}' /etc/hosts && exec "$@"`, "sh"],
];
const mayEnter =
  existsSync("/usr/bin/pebble") && Bun.spawnSync(["/usr/bin/unshare", "--mount", "true"], { stderr: "ignore" }).success;

function start(): Promise<RunningExecutable> {
  return startExecutable({
    args: ["--demo"],
    dataDir: files.file("data"),
    enter,
    env: {
      COMPANIOND_DOMAIN: domain,
      COMPANIOND_ACME_DIRECTORY: pebble?.directory ?? "",
      COMPANIOND_HTTP_PORT: String(httpPort),
      COMPANIOND_HTTPS_PORT: String(httpsPort),
      NODE_EXTRA_CA_CERTS: join(import.meta.dir, "fixtures/tls/one.cert.pem"),
      OPENAI_BASE_URL: `${mock.url}/v1`,
    },
  });
}

/** Rejects if the handshake is refused. */
async function shake(): Promise<PeerCertificate> {
  const socket = connect({ host: "127.0.0.1", port: httpsPort, servername: domain, rejectUnauthorized: false });
  try {
    await new Promise<void>((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
    return socket.getPeerCertificate();
  } finally {
    socket.destroy();
  }
}

const readSerial = async () => (await shake()).serialNumber;
const ask = (path: string, init: RequestInit = {}) =>
  fetch(`https://127.0.0.1:${httpsPort}${path}`, { ...init, tls: { rejectUnauthorized: false } });

test.skipIf(!mayEnter)(
  "obtains a certificate, renews it beneath an open stream, and starts again with it",
  async () => {
    await using server = await start();
    const token = (await server.printed(/emb_[0-9A-Za-z]{32}/))[0];
    await expect(shake()).rejects.toMatchObject({ code: "ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR" });
    const page = await fetch(`${httpUrl}/app?a=b`, { redirect: "manual", headers: { host: domain } });
    expect([page.status, page.headers.get("location")]).toEqual([301, `https://${domain}:${httpsPort}/app?a=b`]);

    mayAsk.resolve();
    await server.logged("certificate obtained");
    await eventually(() => shake().then(Boolean, () => false));
    const first = await shake();
    expect(first.subjectaltname).toBe(`DNS:${domain}`);
    expect(first.issuer.CN).toStartWith("Pebble Intermediate CA");
    expect((await ask("/healthz")).headers.get("strict-transport-security")).toBe("max-age=31536000");

    const proceed = Promise.withResolvers<void>();
    mock.respond(async (_, response) => {
      response.write('data: {"choices":[{"delta":{"content":"before "}}]}\n\n');
      await proceed.promise;
      response.write('data: {"choices":[{"delta":{"content":"after"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
      response.end();
    });
    const body = JSON.stringify({ message: "Hello" });
    const headers = { "content-type": "application/json" };
    const reply = await ask(`/api/embed/${token}/chat`, { method: "POST", headers, body });
    expect(reply.status).toBe(200);
    // While the listener changes, a handshake may be refused, and clients try again.
    await eventually(async () => (await readSerial().catch(() => first.serialNumber)) !== first.serialNumber);
    proceed.resolve();
    expect(await reply.text()).toBe('data: {"text":"before "}\n\ndata: {"text":"after"}\n\ndata: [DONE]\n\n');

    expect(server.log.some(({ event }) => event === "running as the owner of the data directory")).toBe(true);
    const obtained = server.log.filter(({ event }) => event === "certificate obtained").map(({ expires }) => expires);
    expect(await server.stop()).toBe(0);
    // On a slow machine it may be due again by now: what counts is with which one it begins.
    await using again = await start();
    expect(obtained).toContain((await again.logged("certificate loaded"))["expires"]);
    expect((await ask("/healthz")).status).toBe(200);
    expect(await again.stop()).toBe(0);
  },
);
