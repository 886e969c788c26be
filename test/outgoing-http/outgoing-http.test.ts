/** Requests to URLs of owners' over real HTTP on loopback: what is refused, what is sent, and what comes of failures. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { OutgoingFailure, OutgoingRequest } from "../../src/contracts/outgoing-http.ts";
import { createOutgoingHttp } from "../../src/engines/outgoing-http/outgoing-http.ts";
import { parseAllowedHost } from "../../src/lib/allowed-hosts.ts";
import { eventually } from "../support/eventually.ts";
import { findFreePort } from "../support/free-port.ts";

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const addresses: Record<string, readonly string[]> = {
  "tool.test": ["127.0.0.1"],
  "second.test": ["127.0.0.2", "127.0.0.1"],
  "twice.test": ["127.0.0.1", "127.0.0.1"],
  "mixed.test": ["93.184.215.14", "10.0.0.1"],
  "inside.test": ["10.0.0.1"],
  "cloud.test": ["169.254.169.254"],
  "own.test": ["93.184.215.15"],
  "neighbour.test": ["93.184.215.16"],
  "public.test": ["93.184.215.14"],
};
const missing = Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });

let server: Server;
let port: number;
let answer: Answer;
let asked: string[];
let open: number;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.headers.host?.split(":")[0]}${request.url}`);
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => answer(request, response, body));
  });
  server.on("connection", (socket) => {
    open++;
    socket.on("close", () => open--);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = [];
  open = 0;
  answer = (_, response) => void response.end("text");
});

const listed = ["tool.test", "second.test", "twice.test", "cloud.test", "169.254.0.0/16"];

function openWith({
  resolve = async (host: string) => addresses[host] ?? Promise.reject(missing),
  names = listed,
}: Partial<{ resolve(host: string): Promise<readonly string[]>; names: string[] }> = {}) {
  return createOutgoingHttp({
    allowed: names.flatMap((text) => parseAllowedHost(text) ?? expect.unreachable(text)),
    ownHosts: ["own.test"],
    isOwn: async (address) => address === "93.184.215.16",
    resolve,
  });
}

const outgoing = openWith();
const { signal } = new AbortController();
const at = (path: string, host = "tool.test") => `http://${host}:${port}${path}`;

function ask(given: Partial<OutgoingRequest & { maxBytes: number }> = {}): OutgoingRequest & { maxBytes: number } {
  return { url: at("/"), method: "GET", headers: {}, timeoutMs: 20_000, maxBytes: 1000, ...given };
}

async function send(given: Partial<OutgoingRequest & { maxBytes: number }> = {}, by = outgoing) {
  return await by.send(ask(given), signal);
}

const failed = (kind: OutgoingFailure["kind"], reason: string, status: number | null = null) => ({
  ...{ outcome: "failed" as const, kind, status, reason },
});
const notPublic = failed("url", "The URL does not lead to a public host.");

test("sends what it is given, and gives what came, whatever the status", async () => {
  answer = ({ headers }, response, body) => {
    const { host, connection, ...others } = headers;
    expect([host, connection]).toEqual([`tool.test:${port}`, "close"]);
    response.writeHead(418, { "X-Answer": "yes" }).end(JSON.stringify({ others, body }));
  };
  const headers = { "Content-Type": "application/json", "X-Key": "k" };
  const received = await send({ url: at("/a?b=c#d"), method: "POST", headers, body: '{"é":1}' });
  if (received.outcome !== "received") throw new Error(received.reason);
  expect(received.status).toBe(418);
  expect(received.headers.get("x-answer")).toBe("yes");
  expect(JSON.parse(Buffer.from(received.body).toString())).toEqual({
    body: '{"é":1}',
    others: {
      "user-agent": "companiond",
      "accept-encoding": "identity",
      "content-type": "application/json",
      "content-length": "8",
      "x-key": "k",
    },
  });
  answer = (request, response) =>
    void response.end(`${request.headers["content-length"]} ${request.headers["user-agent"]}`);
  expect(await send({ method: "POST", headers: { "User-Agent": "own" } })).toMatchObject({
    body: Buffer.from("0 own"),
  });
  expect(await send({ method: "DELETE" })).toMatchObject({ body: Buffer.from("undefined companiond") });
  expect(asked).toEqual(["POST tool.test/a?b=c", "POST tool.test/", "DELETE tool.test/"]);
});

test("sends a large body whole", async () => {
  answer = (_, response, body) => void response.end(String(body.length));
  const received = await send({ method: "POST", body: new Uint8Array(8 * 1024 * 1024).fill(97) });
  expect(received).toMatchObject({ status: 200, body: Buffer.from(String(8 * 1024 * 1024)) });
});

test("refuses every host that is not public, in any spelling, and says the same of all and of names that nobody has", async () => {
  const hosts = ["inside.test", "mixed.test", "nobody.test", "cloud.test", "own.test", "neighbour.test", "localhost."];
  const ips = ["169.254.169.254", "127.0.0.1", "10.0.0.1", "100.64.0.1", "0.0.0.0", "93.184.215.16"];
  const spellings = ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1.", "１２７.0.0.1"];
  const carried = ["[::1]", "[::ffff:7f00:1]", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "[2002:a00:1::]", "[fd00::1]"];
  for (const host of [...hosts, ...ips, ...spellings, ...carried]) {
    expect([host, await send({ url: `https://${host}:${port}/` })]).toEqual([host, notPublic]);
  }
  expect(asked).toEqual([]);
});

test("refuses URLs of other kinds before anything is looked up, and says so to who enters them", async () => {
  const refused: [string, string][] = [
    ["no URL", "The URL must begin with https://."],
    ["ftp://tool.test/", "The URL must begin with https://."],
    ["https://user:word@tool.test/", "The URL must not contain a user name or password."],
    ["https://tool.test:25/", "The URL has the port of another protocol."],
    ["https://tool.test../", "The URL does not lead to a public host."],
    ["https://[::ffff:7f00:1]/", "The URL does not lead to a public host."],
    ["https://0x7f000001/", "The URL does not lead to a public host."],
    [`https://tool.test/${"a".repeat(2048)}`, "The URL must not be longer than 2048 characters."],
  ];
  const cold = openWith({ resolve: () => expect.unreachable() });
  for (const [url, reason] of refused) {
    expect(await send({ url }, cold)).toEqual(failed("url", reason));
    expect(outgoing.findFault(url)).toBe(reason);
  }
  const strict = openWith({ names: ["tool.test:8080"] });
  expect(strict.findFault("https://own.test/")).toBe(notPublic.reason);
  expect(strict.findFault("https://public.test/hook")).toBeNull();
  expect(strict.findFault("http://tool.test:8080/")).toBeNull();
  expect(strict.findFault("http://tool.test/")).toContain("has not allowed http://");
  // A name may lead into a range that is listed: what it leads to is checked with each request.
  expect(openWith({ names: ["10.0.0.0/8"] }).findFault("http://inside.test/")).toBeNull();
  expect(openWith({ names: ["10.0.0.0/8"] }).findFault("http://11.0.0.1/")).toContain("has not allowed http://");
});

test("takes http only where every address is listed by the operator", async () => {
  expect(await send()).toMatchObject({ status: 200 });
  const ranged = openWith({ names: ["127.0.0.0/8"] });
  expect(await send({}, ranged)).toMatchObject({ status: 200 });
  expect(await send({ url: at("/", "public.test") }, ranged)).toMatchObject({
    kind: "url",
    reason: expect.stringContaining("has not allowed http://"),
  });
  expect(await send({}, openWith({ names: ["tool.test:1"] }))).toEqual(notPublic);
  expect(asked).toHaveLength(2);
});

test("connects to the address that was checked, and checks each request anew", async () => {
  let lookups = 0;
  const rebinding = openWith({
    names: ["127.0.0.0/8"],
    resolve: async () => (lookups++ === 0 ? ["127.0.0.1"] : ["10.0.0.1"]),
  });
  expect(await send({ url: at("/", "rebound.test") }, rebinding)).toMatchObject({ status: 200 });
  expect(lookups).toBe(1);
  expect(await send({ url: at("/", "rebound.test") }, rebinding)).toEqual(notPublic);
  expect(asked).toEqual(["GET rebound.test/"]);
});

test("refuses headers that would end a line or frame the request, and sends nothing", async () => {
  const refused: Record<string, string>[] = [
    { "X-A": "a\r\nX-B: b" },
    { "X-A": "a\nb" },
    { "X-A": "a\0" },
    { "X-A": "Grüße" },
    { "X-A\r\nX-B": "b" },
    { "X A": "a" },
    { "": "a" },
    { "X-A:": "a" },
    { "X-A": "a", "x-a": "b" },
    { "X-A": "a".repeat(8193) },
    ...["Host", "content-length", "Transfer-Encoding", "CONNECTION", "upgrade", "expect"].map((name) => ({
      [name]: "1",
    })),
  ];
  for (const headers of refused) {
    expect(await send({ headers })).toEqual(failed("headers", "A header's name or value cannot be sent."));
  }
  expect(open).toBe(0);
});

test("follows no redirect: it is an answer", async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    answer = (_, response) => void response.writeHead(status, { Location: at("/elsewhere") }).end();
    expect(await send({ method: "POST", body: "{}" })).toMatchObject({ outcome: "received", status });
  }
  expect(asked).toEqual(Array(5).fill("POST tool.test/"));
});

test("reads as much as is asked for, and no more of what does not end", async () => {
  answer = (_, response) => void response.end("a".repeat(1000));
  expect(await send()).toMatchObject({ outcome: "received", body: Buffer.alloc(1000, "a") });
  answer = (_, response) => {
    const write = () => {
      while (response.write("a".repeat(65_536)));
    };
    response.on("drain", write);
    write();
  };
  expect(await send()).toEqual(failed("too_large", "The host's response is too long.", 200));
  await eventually(() => open === 0);
});

test("gives up on who is late, at any stage", async () => {
  const late = failed("timeout", "The host did not answer within 0.05 s.");
  const timeoutMs = 50;
  expect(await send({ timeoutMs }, openWith({ resolve: () => new Promise(() => {}) }))).toEqual(late);
  answer = () => {};
  expect(await send({ timeoutMs })).toEqual(late);
  expect(await outgoing.open(ask({ timeoutMs }), signal)).toEqual(late);
  answer = (_, response) => void response.writeHead(200).write("begin");
  expect(await send({ timeoutMs })).toEqual({ ...late, status: 200 });
  // Of TLS, no byte comes back.
  const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  expect(await send({ timeoutMs, url: `https://tool.test:${silent.port}/` })).toEqual(late);
  silent.stop(true);
  await eventually(() => open === 0);
});

test("tells what cannot have arrived from what may have", async () => {
  const unreachable = failed("not_connected", "The host could not be reached.");
  expect(await send({ url: `http://tool.test:${findFreePort()}/` })).toEqual(unreachable);
  const busy = openWith({ resolve: () => Promise.reject(Object.assign(new Error("again"), { code: "EAI_AGAIN" })) });
  expect(await send({}, busy)).toEqual(failed("not_connected", "The host name could not be resolved."));
  const broken = failed("broken", "The host broke off its response.");
  answer = (request) => void request.socket.destroy();
  expect(await send({ method: "POST" })).toEqual(broken);
  answer = (request, response) => {
    response.writeHead(200, { "Content-Length": "10" }).write("begin");
    setImmediate(() => request.socket.destroy());
  };
  expect(await send()).toEqual({ ...broken, status: 200 });
  answer = (request) => void request.socket.end("220 mail.test ESMTP\r\n\r\n");
  expect(await send()).toEqual(failed("broken", "The host's response is not HTTP."));
  answer = (_, response) => void response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync("text"));
  expect(await send()).toMatchObject({ kind: "broken", reason: expect.stringContaining("compressed its response") });
});

test("tries the next address where one takes no connection, and sends nothing but a GET again", async () => {
  expect(await send({ method: "POST", url: at("/", "second.test") })).toMatchObject({ status: 200 });
  expect(asked).toEqual(["POST second.test/"]);
  answer = (request) => void request.socket.destroy();
  expect(await send({ method: "POST", url: at("/", "twice.test") })).toMatchObject({ kind: "broken" });
  expect(await send({ method: "GET", url: at("/", "twice.test") })).toMatchObject({ kind: "broken" });
  expect(asked.slice(1)).toEqual(["POST twice.test/", "GET twice.test/", "GET twice.test/"]);
});

test("checks the certificate against the name, and sends nothing where it is not valid", async () => {
  const fixture = (name: string) => join(import.meta.dir, "../fixtures/tls", name);
  const tls = { key: await Bun.file(fixture("key.pem")).text(), cert: await Bun.file(fixture("cert.pem")).text() };
  let requests = 0;
  const fetch = () => {
    requests++;
    return new Response("over TLS");
  };
  const secure = Bun.serve({ port: 0, hostname: "127.0.0.1", tls, fetch });
  try {
    const invalid = failed("not_connected", "The host's certificate is not valid.");
    expect(await send({ url: `https://tool.test:${secure.port}/` })).toEqual(invalid);
    // Which roots are trusted is read when a process starts.
    const script = `
      const { createOutgoingHttp } = await import(${JSON.stringify(join(import.meta.dir, "../../src/engines/outgoing-http/outgoing-http.ts"))});
      const { parseAllowedHost } = await import(${JSON.stringify(join(import.meta.dir, "../../src/lib/allowed-hosts.ts"))});
      const outgoing = createOutgoingHttp({
        allowed: [parseAllowedHost("127.0.0.0/8")], ownHosts: [], resolve: async () => ["127.0.0.1"],
      });
      for (const host of ["localhost", "elsewhere.example"]) {
        const url = "https://" + host + ":${secure.port}/";
        const request = { url, method: "GET", headers: {}, timeoutMs: 20000, maxBytes: 100 };
        const { status, reason } = await outgoing.send(request, new AbortController().signal);
        console.log(status ?? reason);
      }
      process.exit();`;
    const child = Bun.spawn([process.execPath, "-e", script], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: fixture("cert.pem") },
      stdout: "pipe",
    });
    expect((await new Response(child.stdout).text()).trim().split("\n")).toEqual(["200", invalid.reason]);
    expect(requests).toBe(1);
  } finally {
    await secure.stop(true);
  }
});
