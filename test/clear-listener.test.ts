/** The port of plain HTTP beside `--domain`: challenges, redirects, refusals; and a port that another program has. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { systemIds } from "../src/lib/ids.ts";
import type { ListenFailure } from "../src/server/listener.ts";
import { type ClearListener, openClearListener } from "../src/server/plain-http-listener.ts";
import { eventually } from "./support/eventually.ts";

const domains = ["chat.example.com", "www.example.com"];
const token = "evaGxfADs6pSRb2LAv9IZf17Dt3juxGJyPCt";
const asked: string[] = [];

let port = 0;
const failures: ListenFailure[] = [];

function open(options: { host?: string; port?: number; httpsPort?: number; retryMs?: number } = {}): ClearListener {
  return openClearListener({
    ...{ host: "127.0.0.1", port: 0, domains, httpsPort: 443, ids: systemIds },
    findChallenge: async (one) => {
      asked.push(one);
      return one === token ? `${one}.thumbprint` : null;
    },
    onOpen: (opened) => {
      port = opened;
    },
    onFailure: (failure) => failures.push(failure),
    ...options,
  });
}

let listener: ClearListener;
beforeAll(() => {
  listener = open();
});
afterAll(() => listener.stop());

/** The whole response to a head that no client would send. */
async function say(line: string, ...headers: string[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (bytes: Buffer) => {
    text += bytes.toString("latin1");
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.write(Buffer.from([line, ...headers, "", ""].join("\r\n"), "latin1"));
  await closed;
  return text;
}

const locationOf = (response: string) => /^location: (.*)\r$/im.exec(response)?.[1] ?? null;

test.each([
  ["GET / HTTP/1.1", "Host: chat.example.com", "https://chat.example.com/"],
  ["HEAD /app HTTP/1.1", "Host: chat.example.com", "https://chat.example.com/app"],
  ["GET /c/one?a=b%20c&d HTTP/1.1", "Host: CHAT.example.com:80", "https://chat.example.com/c/one?a=b%20c&d"],
  ["GET /app HTTP/1.1", "Host: www.example.com.", "https://www.example.com/app"],
  ["GET //evil.example/x HTTP/1.1", "Host: chat.example.com", "https://chat.example.com//evil.example/x"],
  ["GET /\\evil.example HTTP/1.1", "Host: chat.example.com", "https://chat.example.com//evil.example"],
  ["GET /@evil.example HTTP/1.1", "Host: chat.example.com", "https://chat.example.com/@evil.example"],
  ["GET /a%0d%0aSet-Cookie:b HTTP/1.1", "Host: chat.example.com", "https://chat.example.com/a%0d%0aSet-Cookie:b"],
  ["GET /caf\xe9 HTTP/1.1", "Host: chat.example.com", "https://chat.example.com/caf%EF%BF%BD"],
  ["GET http://evil.example/x HTTP/1.1", "Host: chat.example.com", "https://chat.example.com/x"],
  ["GET /x HTTP/1.1", "Host: evil.example", "https://chat.example.com/x"],
  ["GET /x HTTP/1.1", "Host: www.example.com.evil.example", "https://chat.example.com/x"],
  ["GET /x HTTP/1.1", "Host: [2001:db8::1]:80", "https://chat.example.com/x"],
  ["GET /x HTTP/1.1", "Host: chat.example.com@evil.example", "https://chat.example.com/"],
  ["GET /x HTTP/1.1", "Host: evil.example/chat.example.com", "https://chat.example.com/"],
  ["GET /x HTTP/1.1", "Host:", "https://chat.example.com/"],
  ["GET /x HTTP/1.0", "X-Forwarded-Host: evil.example", "https://chat.example.com/"],
  [
    "GET /.well-known/security.txt HTTP/1.1",
    "Host: www.example.com",
    "https://www.example.com/.well-known/security.txt",
  ],
  ["GET /api/openapi HTTP/1.1", "Host: www.example.com", "https://www.example.com/api/openapi"],
])("sends %j with %j to %s, and closes the connection", async (line, host, location) => {
  const response = await say(line, host);
  expect(response).toStartWith("HTTP/1.1 301 ");
  expect(locationOf(response)).toBe(location);
  expect(response.toLowerCase()).not.toContain("strict-transport-security");
});

test.each([
  ["POST /api/embed/one/chat HTTP/1.1", []],
  ["GET /api/companions HTTP/1.1", ["Authorization: Bearer secret"]],
  ["GET /api/embed/one/conversations HTTP/1.1", ["X-Visitor-Token: a.b.c"]],
  ["OPTIONS /api/embed/one HTTP/1.1", ["Origin: http://shop.example"]],
  ["POST /v1/chat/completions HTTP/1.1", []],
  ["PUT /anything HTTP/1.1", ["Content-Length: 3"]],
  ["GET /metrics HTTP/1.1", ["Authorization: Bearer secret"]],
  ["CONNECT evil.example:443 HTTP/1.1", []],
])("refuses %j with a sentence instead of a redirect", async (line, headers) => {
  const response = await say(line, "Host: chat.example.com", ...headers);
  expect(response).toStartWith("HTTP/1.1 403 ");
  expect(locationOf(response)).toBeNull();
  const body = JSON.parse(response.slice(response.indexOf("\r\n\r\n"))) as Record<string, unknown>;
  const { code, detail, message } = (body.error ?? body) as Record<string, unknown>;
  expect(code).toBe("https_required");
  expect(String(detail ?? message)).toStartWith("Send this request to https://chat.example.com");
  const isKeyed = headers.some((header) => header.startsWith("Authorization"));
  expect(String(detail ?? message).endsWith("was sent unencrypted: replace it.")).toBe(isKeyed);
  const isVisitor = headers.some((header) => header.startsWith("X-Visitor-Token"));
  expect(String(detail ?? message).includes("The visitor token of this request was sent unencrypted")).toBe(isVisitor);
});

test("answers the challenges that somebody waits for", async () => {
  const response = await fetch(`http://127.0.0.1:${port}/.well-known/acme-challenge/${token}`);
  expect(response.status).toBe(200);
  expect(await response.text()).toBe(`${token}.thumbprint`);
  const missed = await fetch(`http://127.0.0.1:${port}/.well-known/acme-challenge/other`);
  expect(missed.status).toBe(404);
});

test.each(["", "a/b", "%2e%2e%2fkey", "..%2f..%2fkey", "a.b", "a".repeat(201), "a%00b", "é"])(
  "asks nobody for a token like %j",
  async (strange) => {
    asked.length = 0;
    const response = await say(`GET /.well-known/acme-challenge/${strange} HTTP/1.1`, "Host: chat.example.com");
    expect(response).toStartWith("HTTP/1.1 404 ");
    expect(asked).toEqual([]);
  },
);

test("counts what it answers", () => {
  const { challenge, missed, redirect, refused } = listener.counts;
  expect({ challenge, redirect, refused, missed }).toEqual({ challenge: 1, redirect: 19, refused: 8, missed: 9 });
});

test("sends visitors to the port of HTTPS that they can reach", async () => {
  const before = port;
  const other = open({ httpsPort: 8443 });
  expect(locationOf(await say("GET /app HTTP/1.1", "Host: www.example.com"))).toBe("https://www.example.com:8443/app");
  await other.stop();
  port = before;
});

test("says that another program has the port, and takes it when that has gone", async () => {
  const before = port;
  const blocker = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const waiting = open({ port: blocker.port, retryMs: 5 });
  expect(waiting.failure?.code).toBe("EADDRINUSE");
  blocker.stop(true);
  await eventually(() => waiting.failure === null);
  expect(port).toBe(blocker.port);
  expect(locationOf(await say("GET / HTTP/1.1", "Host: www.example.com"))).toBe("https://www.example.com/");
  expect(failures.map((failure) => failure.port)).toEqual([blocker.port]);
  await waiting.stop();
  port = before;
});
