/** What doctor says of a public URL at which no companiond responds. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { examinePublicUrl } from "../../src/cli/doctor/network.ts";
import type { Ask } from "../../src/cli/doctor/reach.ts";
import type { Config } from "../../src/config/config.ts";
import { findFreePort } from "../support/free-port.ts";

const fixtures = join(import.meta.dir, "../fixtures/tls");
const listen = { hostname: "127.0.0.1", port: 0 };
const tls = { cert: Bun.file(join(fixtures, "one.cert.pem")), key: Bun.file(join(fixtures, "one.key.pem")) };

async function examine(publicUrl: string, ask?: Ask) {
  const { status, detail, advice } = await examinePublicUrl({ publicUrl } as Config, ask);
  expect(status).toBe("warn");
  const [, cause] = detail.split(`No companiond responds at ${publicUrl}/healthz: `);
  return [cause?.replace(/port \d{4,}/, "port PORT"), advice?.replace(/port \d{4,}/, "port PORT")];
}

test("a name, a connection, TLS and something else at the address are told apart, each with what to do", async () => {
  await using encrypted = Bun.serve({ ...listen, tls, fetch: () => Response.json({ version: "1" }) });
  await using clear = Bun.serve({
    ...listen,
    fetch: ({ url }) => new Response(null, { status: url.includes("/down/") ? 502 : 404 }),
  });
  const late: Ask = () => Promise.reject(new DOMException("too late", "TimeoutError"));
  const ca = await tls.cert.text();
  const misnamed: Ask = (url, init) => fetch(url, { ...init, tls: { ca, serverName: "chat.example.com" } });
  const found = await Promise.all([
    examine("https://no-such-name.invalid"),
    examine(`https://localhost:${findFreePort()}`),
    examine("https://chat.example.com", late),
    examine(`https://localhost:${encrypted.port}`),
    examine(`https://localhost:${encrypted.port}`, misnamed),
    examine(`https://localhost:${clear.port}`),
    examine(`http://localhost:${encrypted.port}`),
    examine(`http://localhost:${clear.port}/down`),
    examine(`http://127.0.0.1:${clear.port}`),
  ]);
  expect(found).toEqual([
    [
      "no-such-name.invalid does not resolve.",
      "Add an A or AAAA record for no-such-name.invalid that points to this server or to its proxy, or correct the name.",
    ],
    [
      "nothing listens on port PORT of localhost: the connection is refused.",
      "Start the server; if it runs, let it or the proxy in front of it listen on port PORT there.",
    ],
    [
      "port 443 of chat.example.com does not answer within 5 s.",
      expect.stringContaining("Let firewalls and routers pass port 443 on to the server."),
    ],
    [
      "the TLS certificate there is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT).",
      expect.stringContaining("NODE_EXTRA_CA_CERTS"),
    ],
    [
      "the TLS certificate there is for another name than localhost.",
      "Serve a certificate that names localhost, and check that the name points to this server.",
    ],
    ["the TLS handshake on port PORT fails.", expect.stringContaining("put TLS there")],
    ["the connection is closed without an answer.", expect.stringContaining("a port of HTTPS")],
    ["a proxy answers with status 502, and does not reach the server.", expect.stringContaining("Start the server")],
    ["something else answers, with status 404.", expect.stringContaining("Point 127.0.0.1:")],
  ]);
});
