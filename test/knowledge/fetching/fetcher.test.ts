/** Fetching over real HTTP on loopback: what is refused, how much is read, how politely, and what is told. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { createFetcher, type Fetcher, type FetchOptions } from "../../../src/core/knowledge/fetching/fetcher.ts";
import { parseAllowedHost } from "../../../src/lib/allowed-hosts.ts";
import { isOwnAddress, listOwnAddresses } from "../../../src/lib/own-addresses.ts";
import { eventually } from "../../support/eventually.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const mebibyte = 1024 * 1024;
const addresses: Record<string, string[]> = {
  "site.test": ["127.0.0.1"],
  "other.test": ["127.0.0.1"],
  "mixed.test": ["93.184.215.14", "10.0.0.1"],
  "inside.test": ["10.0.0.1"],
  "cloud.test": ["169.254.169.254"],
};

let server: Server;
let port: number;
let answers: Record<string, Answer>;
let asked: string[];
let delays: number[];
let fetcher: Fetcher;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.headers.host?.split(":")[0]}${request.url}`);
    const answer = answers[request.url ?? ""];
    if (answer !== undefined) answer(request, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  answers = {};
  asked = [];
  delays = [];
  fetcher = open();
});

const missing = Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });

function open({ timeoutMs = 20_000, resolve = (host: string) => addresses[host] }: Partial<OpenOptions> = {}): Fetcher {
  const allowed = ["site.test", "other.test", "cloud.test", "169.254.0.0/16"].flatMap(
    (text) => parseAllowedHost(text) ?? [],
  );
  return createFetcher({
    allowed,
    ownHosts: ["chat.test"],
    isOwn: async (address) => address === "93.184.215.14",
    timeoutMs,
    resolve: async (host) => resolve(host) ?? Promise.reject(missing),
    wait: async (timeMs) => void delays.push(timeMs),
  });
}

interface OpenOptions {
  timeoutMs: number;
  resolve(host: string): string[] | undefined;
}

const signal = new AbortController().signal;
const at = (path: string, host = "site.test") => `http://${host}:${port}${path}`;
const fetch = (path: string, options: Partial<FetchOptions> = {}) => fetcher.fetch(at(path), { signal, ...options });
const give =
  (body: string | Buffer, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(200, headers).end(body);
const redirect =
  (location: string): Answer =>
  (_, response) =>
    response.writeHead(302, { location }).end();

async function failureOf(fetching: Promise<unknown>): Promise<{ message: string; isTransient: boolean }> {
  const error = await fetching.then(
    () => expect.unreachable(),
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ name: "FetchingFailure" });
  const { message, isTransient } = error as { message: string; isTransient: boolean };
  return { message, isTransient };
}

const notPublic = { message: "The address does not lead to a public host.", isTransient: false };

test("gives the bytes, what they are, and what the next fetch needs", async () => {
  answers["/a"] = (request, response) => {
    expect(request.headers["user-agent"]).toBe("companiond");
    const headers = { "Content-Type": 'Text/HTML; Charset="ISO-8859-1"', ETag: '"1"', "Last-Modified": "yesterday" };
    if (request.headers["if-none-match"] === '"1"') response.writeHead(304).end();
    else response.writeHead(200, headers).end("text");
  };
  answers["/old"] = redirect("/a#part");
  const fetched = await fetch("/old");
  expect(fetched).toMatchObject({ status: "fetched", contentType: "text/html", charset: "iso-8859-1" });
  expect(fetched).toMatchObject({ finalUrl: at("/a"), etag: '"1"', lastModified: "yesterday" });
  expect(fetched.status === "fetched" && new TextDecoder().decode(fetched.bytes)).toBe("text");
  expect(await fetch("/a", { etag: '"1"', lastModified: "yesterday" })).toEqual({ status: "unchanged" });
  expect(await fetch("/a", { etag: '"1"\r\nX: y' })).toMatchObject({ status: "fetched" });
});

test("reads nothing of this machine at its public address or under its own name, unless the operator lists it", async () => {
  addresses["chat.test"] = ["93.184.215.15"];
  addresses["neighbour.test"] = ["93.184.215.14"];
  answers["/away"] = redirect(at("/a", "chat.test"));
  const own = [at("/a", "chat.test"), at("/a", "neighbour.test"), at("/a", "93.184.215.14"), at("/away")];
  for (const url of own) expect(await failureOf(fetcher.fetch(url, { signal }))).toEqual(notPublic);
  expect(asked).toEqual(["site.test/away"]);

  // The real check asks the kernel, and takes nobody else's address for its own.
  const addressesHere = ["127.0.0.1", "::1", ...(listOwnAddresses() ?? []).map(({ address }) => address)];
  for (const address of addressesHere) expect([address, await isOwnAddress(address)]).toEqual([address, true]);
  for (const address of ["93.184.215.14", "2001:4860:4860::8888"]) expect(await isOwnAddress(address)).toBe(false);
  const allowed = ["127.0.0.1", "site.test"].flatMap((text) => parseAllowedHost(text) ?? []);
  const listed = createFetcher({ allowed, ownHosts: ["127.0.0.1"] });
  answers["/a"] = give("text");
  expect(await listed.fetch(at("/a", "127.0.0.1"), { signal })).toMatchObject({ status: "fetched" });
});

test("says the same of every host that is not public, whether anyone has its name or listens there", async () => {
  const hosts = [
    "inside.test",
    "mixed.test",
    "nobody.test",
    "cloud.test",
    "169.254.169.254",
    "127.0.0.1",
    "localhost.",
  ];
  const spellings = [
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "127.1",
    "[::1]",
    "[::ffff:7f00:1]",
    "127.0.0.1.",
    "１２７.0.0.1",
  ];
  addresses["localhost"] = ["127.0.0.1", "::1"];
  for (const host of [...hosts, ...spellings]) {
    expect(await failureOf(fetcher.fetch(at("/", host), { signal }))).toEqual(notPublic);
  }
  expect(asked).toEqual([]);
});

test.each([
  ["file:///etc/passwd", "http://"],
  ["gopher://site.test/", "http://"],
  ["no address", "http://"],
  ["http://user@site.test/", "user name"],
  ["http://site.test:25/", "port"],
  ["http://site.test../", "public host"],
])("refuses %s", async (url, reason) => {
  expect((await failureOf(fetcher.fetch(url, { signal }))).message).toContain(reason);
});

test("connects to the address that was checked, whatever the name leads to a moment later", async () => {
  let lookups = 0;
  fetcher = open({ resolve: () => (lookups++ === 0 ? ["127.0.0.1"] : ["10.0.0.1"]) });
  answers["/a"] = give("text");
  expect(await fetch("/a")).toMatchObject({ status: "fetched" });
  expect(lookups).toBe(1);
  // A redirect is looked up again.
  answers["/again"] = redirect(at("/a", "rebound.test"));
  lookups = 0;
  expect(await failureOf(fetch("/again"))).toEqual(notPublic);
  expect(lookups).toBe(2);
});

test("checks each redirect anew, and follows three", async () => {
  answers["/metadata"] = redirect("http://169.254.169.254/latest/meta-data/");
  answers["/file"] = redirect("file:///etc/passwd");
  answers["/user"] = redirect(`http://a:b@site.test:${port}/`);
  expect(await failureOf(fetch("/metadata"))).toEqual(notPublic);
  expect((await failureOf(fetch("/file"))).message).toContain("http://");
  expect((await failureOf(fetch("/user"))).message).toContain("user name");
  answers["/1"] = redirect("/2");
  answers["/2"] = redirect(at("/3", "other.test"));
  answers["/3"] = redirect("/4");
  answers["/4"] = give("text");
  answers["/loop"] = redirect("/loop");
  asked = [];
  expect(await fetch("/1")).toMatchObject({ finalUrl: at("/4", "other.test") });
  expect(asked).toEqual(["site.test/1", "site.test/2", "other.test/3", "other.test/4"]);
  expect((await failureOf(fetch("/loop"))).message).toContain("more than three times");
  expect(asked).toHaveLength(8);
  expect((await failureOf(fetch("/1", { onlyOrigin: `http://site.test:${port}` }))).message).toContain("another site");
});

test("reads 5 MiB, counted after decompression", async () => {
  const most = Buffer.alloc(5 * mebibyte, "a");
  const bomb = Buffer.alloc(50 * mebibyte);
  answers["/most"] = give(gzipSync(most), { "Content-Encoding": "gzip" });
  answers["/br"] = give(brotliCompressSync("text"), { "Content-Encoding": "br" });
  answers["/more"] = give(Buffer.concat([most, Buffer.from("b")]));
  answers["/gzip"] = give(gzipSync(bomb), { "Content-Encoding": "gzip" });
  answers["/endless"] = (_, response) => {
    const piece = Buffer.alloc(mebibyte);
    const write = () => {
      while (response.write(piece));
    };
    response.writeHead(200).on("drain", write);
    write();
  };
  answers["/damaged"] = give(gzipSync(most).subarray(0, 100), { "Content-Encoding": "gzip" });
  answers["/unknown"] = give("text", { "Content-Encoding": "compress" });
  const fetched = await fetch("/most");
  expect(fetched.status === "fetched" && fetched.bytes.length).toBe(5 * mebibyte);
  expect(await fetch("/br")).toMatchObject({ bytes: Buffer.from("text") });
  for (const path of ["/more", "/gzip", "/endless"]) {
    expect((await failureOf(fetch(path))).message).toBe("The page is larger than 5 MiB.");
  }
  for (const path of ["/damaged", "/unknown"]) {
    expect((await failureOf(fetch(path))).message).toContain("compression that is not supported");
  }
});

test("gives up on a host that is late, breaks off, or does not speak HTTP, and tells what may pass", async () => {
  answers["/slow"] = (_, response) => void response.writeHead(200).write("begin");
  answers["/broken"] = (_, response) => {
    response.writeHead(200, { "Content-Length": "10" }).write("begin");
    setImmediate(() => response.destroy());
  };
  answers["/strange"] = (request) => void request.socket.end("220 mail.test ESMTP\r\n\r\n");
  answers["/failing"] = (_, response) => void response.writeHead(503).end();
  answers["/empty"] = (_, response) => void response.writeHead(304).end();
  const late = open({ timeoutMs: 50 }).fetch(at("/slow"), { signal });
  expect(await failureOf(late)).toEqual({ message: "The host took longer than 20 seconds.", isTransient: true });
  expect(await failureOf(fetch("/broken"))).toEqual({ message: "The host broke off its response.", isTransient: true });
  expect(await failureOf(fetch("/strange"))).toEqual({
    message: "The host's response is not HTTP.",
    isTransient: true,
  });
  expect(await failureOf(fetch("/failing"))).toMatchObject({
    message: "The host answered with status 503.",
    isTransient: true,
  });
  expect(await failureOf(fetch("/absent"))).toMatchObject({
    message: "The page does not exist (404).",
    isTransient: false,
  });
  expect((await failureOf(fetch("/empty"))).message).toContain("without having been asked");
  const unreachable = await failureOf(fetcher.fetch("http://site.test:1024/", { signal }));
  expect(unreachable).toEqual({ message: "The host could not be reached.", isTransient: true });
  const controller = new AbortController();
  const left = fetch("/slow", { signal: controller.signal });
  await eventually(() => asked.at(-1) === "site.test/slow");
  controller.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
});

test("asks a host for one thing at a time, whatever its port is spelled like", async () => {
  const open: ServerResponse[] = [];
  for (const path of ["/1", "/2", "/3"]) answers[path] = (_, response) => void open.push(response);
  const all = Promise.all([fetch("/1"), fetch("/2"), fetcher.fetch(at("/3", "other.test"), { signal })]);
  await eventually(() => open.length === 2);
  expect(asked.toSorted()).toEqual(["other.test/3", "site.test/1"]);
  for (const response of open) response.end();
  await eventually(() => open.length === 3);
  open[2]?.end();
  expect(await all).toHaveLength(3);
});

test("obeys robots.txt where it is asked to, asks for it once, and keeps its pace", async () => {
  answers["/robots.txt"] = give("User-agent: *\nDisallow: /no\nCrawl-delay: 60");
  answers["/yes"] = give("text");
  answers["/no"] = give("text");
  answers["/to-no"] = redirect("/no");
  expect((await failureOf(fetch("/no", { obeysRobots: true }))).message).toContain("robots.txt does not allow");
  expect((await failureOf(fetch("/to-no", { obeysRobots: true }))).message).toContain("robots.txt does not allow");
  expect(await fetch("/yes", { obeysRobots: true })).toMatchObject({ status: "fetched" });
  expect(await fetch("/no")).toMatchObject({ status: "fetched" });
  expect(asked).toEqual(["/robots.txt", "/to-no", "/yes", "/no"].map((path) => `site.test${path}`));
  expect(delays).toEqual([5000, 5000]);
});

test("a site without a robots.txt allows all, and one that cannot give it nothing for now", async () => {
  answers["/yes"] = give("text");
  expect(await fetch("/yes", { obeysRobots: true })).toMatchObject({ status: "fetched" });
  fetcher = open();
  answers["/robots.txt"] = (_, response) => void response.writeHead(500).end();
  expect(await failureOf(fetch("/yes", { obeysRobots: true }))).toEqual({
    message: expect.stringContaining("cannot be read at present"),
    isTransient: true,
  });
  fetcher = open();
  answers["/robots.txt"] = redirect("/robots.txt");
  expect(await fetch("/yes", { obeysRobots: true })).toMatchObject({ status: "fetched" });
});
