/** The shipped examples for nginx (/usr/sbin/nginx) and Caddy (/usr/bin/caddy), in front of the executable. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { request } from "node:https";
import { eventually } from "../support/eventually.ts";
import { executablePath, type RunningExecutable, startExecutable } from "../support/executable.ts";
import { findFreePort } from "../support/free-port.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { chunk, doneMark } from "../support/mock-llm-replies.ts";
import type { RunningProxy } from "../support/nginx.ts";
import { startCaddy, startNginx } from "../support/proxy.ts";
import { newMessage } from "../support/resumed-chat.ts";
import { temporaryDirectory } from "../support/temporary.ts";

interface Answer {
  status: number;
  /** The chunks of the body as they arrive. */
  pieces: AsyncIterator<Uint8Array>;
}

/** From a different loopback address than the proxy's own, to tell the two apart. */
function ask(url: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: body === undefined ? "GET" : "POST",
        localAddress: "127.77.0.1",
        rejectUnauthorized: false,
        // Whatever host the headers name.
        servername: "",
        agent: false,
        headers: { "content-type": "application/json", ...headers },
      },
      (response) => resolve({ status: response.statusCode ?? 0, pieces: response[Symbol.asyncIterator]() }),
    );
    sent.once("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function readRest({ pieces }: Answer): Promise<string> {
  let text = "";
  for (let next = await pieces.next(); !next.done; next = await pieces.next())
    text += Buffer.from(next.value).toString();
  return text;
}

describe.each([
  ["nginx", startNginx],
  ["Caddy", startCaddy],
])("behind %s", (_, startProxy) => {
  const data = temporaryDirectory();
  const port = findFreePort();
  let mock: MockLlm;
  let server: RunningExecutable;
  let proxy: RunningProxy;
  let embedUrl: string;

  function startServer(): Promise<RunningExecutable> {
    return startExecutable({
      port,
      dataDir: data.path,
      args: ["--demo"],
      env: {
        OPENAI_BASE_URL: `${mock.url}/v1`,
        COMPANIOND_TRUST_PROXY: "1",
        COMPANIOND_PUBLIC_URL: proxy.url,
        COMPANIOND_RATE_PER_IP: "1000000",
        COMPANIOND_STREAMS_PER_IP: "1000000",
        COMPANIOND_RATE_PER_TOKEN: "1000000",
      },
    });
  }

  beforeAll(async () => {
    mock = await startMockLlm();
    proxy = await startProxy(port);
    server = await startServer();
    const [token] = await server.printed(/emb_[0-9A-Za-z]{32}/);
    embedUrl = `${proxy.url}/api/embed/${token}`;
  });
  afterAll(async () => {
    await server.stop();
    await server[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
    await mock.close();
    data[Symbol.dispose]();
  });

  test("nobody outside reaches where instances would speak to one another", async () => {
    const refused = await ask(`${proxy.url}/internal/replies`, {});
    expect([refused.status, await readRest(refused)]).toEqual([404, expect.not.stringContaining("not_found")]);
    const unknown = await ask(`${proxy.url}/replies`, {});
    expect([unknown.status, await readRest(unknown)]).toEqual([404, expect.stringContaining("not_found")]);
  });

  test("a reply arrives piece by piece", async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    mock.respond(async (_request, response) => {
      response.write('data: {"choices":[{"delta":{"content":"one"}}]}\n\n');
      await gates[0].promise;
      response.write('data: {"choices":[{"delta":{"content":"two"}}]}\n\n');
      await gates[1].promise;
      response.write('data: {"choices":[{"delta":{"content":"three"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
      response.end();
    });
    const answer = await ask(`${embedUrl}/chat`, { message: "Count" });
    expect(answer.status).toBe(200);
    // Each chunk is here before the next one is produced.
    const read = async () => Buffer.from((await answer.pieces.next()).value ?? []).toString();
    expect(await read()).toBe('data: {"text":"one"}\n\n');
    gates[0].resolve();
    expect(await read()).toBe('data: {"text":"two"}\n\n');
    gates[1].resolve();
    expect(await readRest(answer)).toBe('data: {"text":"three"}\n\ndata: [DONE]\n\n');
    mock.respond(null);
  });

  test("so does the rest of one, to a client that comes back", async () => {
    const gate = Promise.withResolvers<void>();
    mock.respond(async (_request, response) => {
      response.write(chunk({ content: "one " }));
      await gate.promise;
      response.write(chunk({ content: "two", finishReason: "stop" }) + doneMark);
      response.end();
    });
    const message = newMessage();
    const first = await ask(`${embedUrl}/chat`, message);
    const rest = await ask(`${embedUrl}/chat/${message.message_id}?session_id=${message.session_id}`);
    let read = "";
    while (!read.endsWith('id: 4\ndata: {"text":"one "}\n\n')) read += Buffer.from((await rest.pieces.next()).value);
    expect(read).toStartWith(": ping\n\n");
    gate.resolve();
    expect(await readRest(rest)).toBe('id: 7\ndata: {"text":"two"}\n\nid: 7\ndata: [DONE]\n\n');
    await readRest(first);
    mock.respond(null);
  });

  test("the client's address and the server's own are the right ones, whatever the client claims", async () => {
    const before = server.log.length;
    const response = await ask(embedUrl, undefined, {
      "x-forwarded-for": "203.0.113.5, 198.51.100.7",
      "x-forwarded-host": "evil.example",
    });
    expect(JSON.parse(await readRest(response)).avatar_url).toStartWith(`${proxy.url}/avatars/`);
    await readRest(await ask(`${proxy.url}/healthz`));
    await eventually(() => server.log.slice(before).some(({ route }) => route === "/healthz"));
    const clients = server.log.slice(before).filter(({ event }) => event === "request");
    for (const { client } of clients) expect(client).toBe("127.77.0.0/24");
  });

  test("no header that the server reads from proxies comes from the client", async () => {
    let received: Headers | null = null;
    const upstream = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch(request) {
        if (!request.url.endsWith("/readyz")) received = request.headers;
        return new Response("ok");
      },
    });
    await using other = await startProxy(upstream.port ?? 0);
    const claims = {
      "x-forwarded-for": "203.0.113.5",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "gopher",
    };
    expect((await ask(`${other.url}/healthz`, undefined, claims)).status).toBe(200);
    const told = (name: string) => (received as Headers | null)?.get(name) ?? null;
    expect(told("x-forwarded-for")).toBe("127.77.0.1");
    expect(told("x-forwarded-proto")).toBe("https");
    const { host } = new URL(other.url);
    expect(told("host")).toBe(host);
    expect([null, host]).toContain(told("x-forwarded-host"));
    await upstream.stop(true);
  });

  test("a companion's own page can use it, whatever websites its owner allows", async () => {
    const words = ["companion", "create", "--account", "demo@localhost", "--name", "Ada", "--json"];
    const { success, stdout } = Bun.spawnSync(
      [executablePath, ...words, "--allowed-origin", "https://shop.example", "--data-dir", data.path],
      { env: {} },
    );
    expect(success).toBe(true);
    const url = `${proxy.url}/api/embed/${JSON.parse(stdout.toString()).embed_token}`;
    const statusOf = async (headers: Record<string, string>) => (await ask(url, undefined, headers)).status;
    expect(await statusOf({ "sec-fetch-site": "same-origin" })).toBe(200);
    expect(await statusOf({ origin: proxy.url })).toBe(200);
    expect(await statusOf({ origin: "https://shop.example" })).toBe(200);
    expect(await statusOf({ origin: "https://evil.example", "x-forwarded-host": "evil.example" })).toBe(403);
    // Caddy itself responds to an unknown host, with an empty body.
    const elsewhere = await ask(url, undefined, { origin: "https://evil.example", host: "evil.example" });
    expect(await readRest(elsewhere)).not.toContain("avatar_url");
    expect(await statusOf({})).toBe(403);
  });

  test("a failing provider's 502 passes through as it is", async () => {
    const response = await ask(`${embedUrl}/chat`, { message: "[[fail:401]]" });
    expect(response.status).toBe(502);
    expect(JSON.parse(await readRest(response)).code).toBe("upstream_error");
  });

  test("a restart loses no request", async () => {
    const outcomes: string[] = [];
    let isOver = false;
    const asking = Array.from({ length: 4 }, async (_unused, lane) => {
      for (let i = 0; !isOver; i++) {
        const isChat = (i + lane) % 2 === 0;
        const response = await (isChat ? ask(`${embedUrl}/chat`, { message: `Hello ${lane} ${i}` }) : ask(embedUrl));
        const body = await readRest(response);
        const isWhole = isChat ? body.endsWith("data: [DONE]\n\n") : body.startsWith("{");
        outcomes.push(`${response.status} ${isWhole ? "whole" : body}`);
      }
    });
    await eventually(() => outcomes.length >= 20);
    expect(await server.stop()).toBe(0);
    await server[Symbol.asyncDispose]();
    const atStop = outcomes.length;
    server = await startServer();
    // Every client was waiting, and continues.
    await eventually(() => outcomes.length >= atStop + 12);
    isOver = true;
    await Promise.all(asking);
    expect({
      outcomes: [...new Set(outcomes)],
      proxy: outcomes.every((one) => one === "200 whole") || proxy.output(),
    }).toEqual({
      outcomes: ["200 whole"],
      proxy: true,
    });
  });
});
