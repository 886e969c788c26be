/** HTTPS served by the program itself, and a certificate replaced while streams run. */
import { expect, test } from "bun:test";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { eventually } from "../support/eventually.ts";
import { runExecutable, startExecutable } from "../support/executable.ts";
import { startMockLlm } from "../support/mock-llm.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const fixtures = join(import.meta.dir, "../fixtures/tls");

function putCertificate(name: "one" | "two", directory: { file(name: string): string }): void {
  copyFileSync(join(fixtures, `${name}.cert.pem`), directory.file("cert.pem"));
  copyFileSync(join(fixtures, `${name}.key.pem`), directory.file("key.pem"));
}

/** The certificate that a new connection sees. */
async function handshake(url: string): Promise<{ socket: TLSSocket; name: string }> {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port), rejectUnauthorized: false });
  await new Promise<void>((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
  return { socket, name: String(socket.getPeerCertificate().subject.CN) };
}

async function servedName(url: string): Promise<string> {
  const { socket, name } = await handshake(url);
  socket.destroy();
  return name;
}

test("loads a new certificate on SIGHUP while a stream continues under the old one", async () => {
  using files = temporaryDirectory();
  const mock = await startMockLlm();
  putCertificate("one", files);
  await using server = await startExecutable({
    args: ["--demo", "--tls-cert", files.file("cert.pem"), "--tls-key", files.file("key.pem")],
    env: { OPENAI_BASE_URL: `${mock.url}/v1` },
  });
  expect(server.url).toStartWith("https://");
  expect(await servedName(server.url)).toBe("one.test");

  await eventually(() => server.stderr.includes("/chat"));
  const token = /emb_[0-9A-Za-z]{32}/.exec(server.stderr)?.[0] ?? "";
  const proceed = Promise.withResolvers<void>();
  mock.respond(async (_, response) => {
    response.write('data: {"choices":[{"delta":{"content":"before "}}]}\n\n');
    await proceed.promise;
    response.write('data: {"choices":[{"delta":{"content":"after"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
    response.end();
  });
  const insecure = { tls: { rejectUnauthorized: false } };
  const answer = await fetch(`${server.url}/api/embed/${token}/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message: "Hello" }),
    ...insecure,
  });
  expect(answer.status).toBe(200);

  putCertificate("two", files);
  // Requests continue meanwhile, each with its own handshake. A handshake may be refused while the listener changes,
  // and clients retry it; nothing else may fail.
  let isReloaded = false;
  let requests = 0;
  const asking = (async () => {
    while (!isReloaded) {
      const ask = () => fetch(`${server.url}/healthz`, { keepalive: false, ...insecure });
      expect((await ask().catch(ask)).status).toBe(200);
      requests++;
    }
  })();
  process.kill(server.pid, "SIGHUP");
  const reloaded = await server.logged("certificate reloaded");
  expect(String(reloaded.expires)).toMatch(/^2\d{3}-/);
  isReloaded = true;
  await asking;
  expect(requests).toBeGreaterThan(0);
  expect(await servedName(server.url)).toBe("two.test");

  proceed.resolve();
  const text = await answer.text();
  expect(text).toBe('data: {"text":"before "}\n\ndata: {"text":"after"}\n\ndata: [DONE]\n\n');
  expect(await server.stop()).toBe(0);
  await mock.close();
});

test("keeps its certificate if the new files are unusable", async () => {
  using files = temporaryDirectory();
  putCertificate("one", files);
  const args = ["--tls-cert", files.file("cert.pem"), "--tls-key", files.file("key.pem")];
  await using server = await startExecutable({ args });
  copyFileSync(join(fixtures, "two.key.pem"), files.file("key.pem"));
  process.kill(server.pid, "SIGHUP");
  const { reason } = await server.logged("certificate not reloaded, keeping the current one");
  expect(reason).toBe(
    "--tls-cert and --tls-key (COMPANIOND_TLS_…): the private key does not belong to the certificate.",
  );
  expect(await servedName(server.url)).toBe("one.test");
  expect(await server.stop()).toBe(0);
});

test("survives SIGHUP without a certificate", async () => {
  await using server = await startExecutable();
  process.kill(server.pid, "SIGHUP");
  await server.logged("nothing to reload: the server has no certificate");
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  expect(await server.stop()).toBe(0);
});

test("refuses a key that is not the certificate's before it serves", async () => {
  using files = temporaryDirectory();
  putCertificate("one", files);
  writeFileSync(files.file("key.pem"), await Bun.file(join(fixtures, "two.key.pem")).text());
  const args = ["--tls-cert", files.file("cert.pem"), "--tls-key", files.file("key.pem")];
  await expect(startExecutable({ args })).rejects.toThrow("the private key does not belong to the certificate");
});

test("refuses a port that another server of its kind serves HTTPS on", async () => {
  using files = temporaryDirectory();
  putCertificate("one", files);
  const args = ["--tls-cert", files.file("cert.pem"), "--tls-key", files.file("key.pem")];
  await using server = await startExecutable({ args });
  const outcome = await runExecutable(["serve", ...args, "--port", new URL(server.url).port, "--data-dir", files.path]);
  expect(outcome.exitCode).toBe(1);
  expect(outcome.stdout).toContain("is in use by another program");
});
