import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { createHttpClient, type HttpClient } from "../../../src/lib/http/client.ts";
import type { HttpBody } from "../../../src/lib/http/exchange.ts";
import { eventually } from "../../support/eventually.ts";
import { type MockLlm, startMockLlm } from "../../support/mock-llm.ts";
import { rested } from "../../support/rested.ts";
import { turnsOfTheLoop } from "../../support/turns-of-the-loop.ts";

const fixture = (name: string) => join(import.meta.dir, "../../fixtures/tls", name);

let mock: MockLlm;
let client: HttpClient;
beforeEach(async () => {
  mock = await startMockLlm();
  client = createHttpClient();
});
afterEach(async () => {
  client.close();
  await mock.close();
});

function send(url: string, signal = new AbortController().signal) {
  const target = client.prepare({ url: new URL(url), method: "POST", headers: [["X-Test", "é"]] });
  return client.send(target, '"ü"', signal);
}

function readAll(body: HttpBody): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    body.read({
      data(part) {
        text += part;
      },
      end: () => resolve(text),
      fail: reject,
    });
  });
}

test("sends method, path, headers and body, and reads the response", async () => {
  mock.respond((_, response) => response.send(418, { "X-Answer": "yes" }, "short and stout"));
  const response = await send(`${mock.url}/a/b?c=d`);
  expect({ status: response.status, answer: response.headers.get("x-answer") }).toEqual({ status: 418, answer: "yes" });
  expect(await readAll(response.body)).toBe("short and stout");
  expect(mock.requests[0]).toMatchObject({ method: "POST", path: "/a/b?c=d" });
  expect(mock.requests[0]?.headers).toMatchObject({
    host: new URL(mock.url).host,
    "content-length": "4",
    "x-test": "é",
  });
});

test("brings a body whole that is longer than what is read at once", async () => {
  const words = Array.from({ length: 60_000 }, (_, index) => `${index} `).join("");
  mock.respond(async (_, response) => {
    await response.write(words);
    response.end();
  });
  expect(await readAll((await send(mock.url)).body)).toBe(words);
});

test("keeps a body, including its end, for a late reader", async () => {
  mock.respond((_, response) => response.send(200, {}, "kept"));
  const { body } = await send(mock.url);
  await mock.until(() => mock.openRequests === 0);
  expect(await readAll(body)).toBe("kept");
});

test("delivers nothing while paused, and everything afterwards", async () => {
  const part = Promise.withResolvers<void>();
  mock.respond(async (_, response) => {
    await response.write("one ");
    await part.promise;
    await response.write("two");
    response.end();
  });
  const { body } = await send(mock.url);
  const seen: string[] = [];
  const ended = new Promise<void>((resolve) => {
    body.read({
      data(text) {
        seen.push(text);
        body.pause();
        part.resolve();
      },
      end: resolve,
      fail: () => seen.push("failed"),
    });
  });
  await mock.until(() => mock.openRequests === 0);
  await turnsOfTheLoop(20);
  expect(seen).toEqual(["one "]);
  body.resume();
  await eventually(() => seen.length >= 2, { everyMs: 0 });
  expect(seen).toEqual(["one ", "two"]);
  body.resume();
  await ended;
});

test("a kept connection that says something unasked is closed", async () => {
  mock.respond((_, response) => {
    response.send(200, {}, "fine");
    setImmediate(() => response.writeRaw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"));
  });
  await readAll((await send(mock.url)).body);
  await mock.until(() => mock.openConnections === 0);
  expect(await readAll((await send(mock.url)).body)).toBe("fine");
});

test("a connection is used again although its last reader had paused it", async () => {
  const isRead = Promise.withResolvers<void>();
  mock.respond(async (request, response) => {
    if (request.index > 0) return response.send(200, {}, "fine");
    await response.write("one ");
    await isRead.promise;
    response.writeRaw("3\r\ntwo\r\n0\r\n\r\n");
  });
  const { body } = await send(mock.url);
  await new Promise<void>((resolve, reject) => {
    body.read({
      data(part) {
        isRead.resolve();
        // This read brings the end as well, which is told once the reader goes on.
        if (part !== "two") return;
        body.pause();
        setImmediate(() => body.resume());
      },
      end: resolve,
      fail: reject,
    });
  });
  await rested();
  expect(await readAll((await send(mock.url)).body)).toBe("fine");
  expect(mock.connections).toBe(1);
});

test("what comes unasked ends the reuse of every connection to that origin for a while", async () => {
  let told = 0;
  client.close();
  client = createHttpClient({ restMs: 0, distrustMs: 60_000, onSurplus: () => told++ });
  mock.respond((request, response) => {
    response.send(200, {}, `for ${request.headers["x-test"]}`);
    if (request.index === 1) setImmediate(() => response.writeRaw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"));
  });
  const both = await Promise.all([send(mock.url), send(mock.url)]);
  for (const { body } of both) await readAll(body);
  await mock.until(() => mock.openConnections === 0);
  for (let round = 0; round < 3; round++) await readAll((await send(mock.url)).body);
  expect(mock.connections).toBe(5);
  expect(told).toBe(1);
});

test("of thousands of replies none is another's, where the server sends a surplus one some milliseconds later", async () => {
  const lateMs = 5;
  mock.respond((request, response) => {
    response.send(200, {}, `answer to ${request.path}`);
    const surplus = `stale answer to ${request.path}`;
    setTimeout(() => {
      if (!response.isClosed)
        response.writeRaw(`HTTP/1.1 200 OK\r\nContent-Length: ${surplus.length}\r\n\r\n${surplus}`);
    }, lateMs);
  });
  let wrong = 0;
  await Promise.all(
    Array.from({ length: 20 }, async (_unused, lane) => {
      for (let i = 0; i < 100; i++) {
        const path = `/${lane}/${i}`;
        if ((await readAll((await send(`${mock.url}${path}`)).body)) !== `answer to ${path}`) wrong++;
      }
    }),
  );
  expect(wrong).toBe(0);
});

test("keeps no more connections than it may", async () => {
  client.close();
  client = createHttpClient({ maxIdle: 2 });
  const all = Promise.withResolvers<void>();
  mock.respond(async (_, response) => {
    if (mock.openRequests === 5) all.resolve();
    await all.promise;
    response.send(200, {}, "fine");
  });
  await Promise.all(Array.from({ length: 5 }, async () => readAll((await send(mock.url)).body)));
  await mock.until(() => mock.openConnections === 2);
  expect(mock.connections).toBe(5);
});

test("gives up on a connection that cannot be made in time", async () => {
  client.close();
  client = createHttpClient({ connectTimeoutMs: 20 });
  // The mock speaks no TLS, and waits for the rest of a request that never comes.
  await expect(send(mock.url.replace("http:", "https:"))).rejects.toThrow(/could not be made/);
  await mock.until(() => mock.connections === 1 && mock.openConnections === 0);
});

test("an unknown host is an error that names it", async () => {
  await expect(send("http://no-such-host.invalid:81/")).rejects.toThrow(/no-such-host\.invalid:81 could not be made/);
});

test("rejects with the signal's reason", async () => {
  await expect(send(mock.url, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  expect(mock.connections).toBe(0);
});

test("over TLS, nothing is sent to a host whose certificate is not trusted, whatever address is connected to", async () => {
  let requests = 0;
  const tls = { key: await Bun.file(fixture("key.pem")).text(), cert: await Bun.file(fixture("cert.pem")).text() };
  const fetch = () => {
    requests++;
    return new Response("over TLS");
  };
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", tls, fetch });
  try {
    await expect(send(`https://localhost:${server.port}/`)).rejects.toThrow(
      /could not be made: self.signed certificate/,
    );
    expect(requests).toBe(0);

    // Which roots are trusted is read when a process starts: one that trusts this certificate asks both names.
    const script = `
      import { createHttpClient } from ${JSON.stringify(join(import.meta.dir, "../../../src/lib/http/client.ts"))};
      const client = createHttpClient();
      for (const host of ["localhost", "127.0.0.1"]) {
        const target = client.prepare({ url: new URL("https://" + host + ":${server.port}/"), method: "POST", headers: [] });
        await client.send(target, "", new AbortController().signal).then(({ status }) => console.log(status), ({ code }) => console.log(code));
      }
      client.close();
      const named = createHttpClient({ tlsNameOfAddresses: "localhost" });
      const target = named.prepare({ url: new URL("https://127.0.0.1:${server.port}/"), method: "POST", headers: [] });
      console.log((await named.send(target, "", new AbortController().signal)).status);
      named.close();
      const { sendPinned } = await import(${JSON.stringify(join(import.meta.dir, "../../../src/lib/http/pinned.ts"))});
      for (const host of ["localhost", "elsewhere.example"]) {
        const url = new URL("https://" + host + ":${server.port}/");
        const target = { url, port: ${server.port} };
        const pinned = { target, addresses: ["127.0.0.1"], method: "GET", headers: [], body: null };
        await sendPinned(pinned, new AbortController().signal).then(({ status }) => console.log(status), ({ code }) => console.log(code));
      }
      process.exit();`;
    const child = Bun.spawn([process.execPath, "-e", script], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: fixture("cert.pem") },
      stdout: "pipe",
    });
    const said = await new Response(child.stdout).text();
    const ofTwo = ["200", "ERR_TLS_CERT_ALTNAME_INVALID"];
    expect(said.trim().split("\n")).toEqual([...ofTwo, "200", ...ofTwo]);
    expect(requests).toBe(3);
  } finally {
    await server.stop(true);
  }
});
