/** Slow and hostile clients on the wire: cut in time, answered or refused, and never able to end or occupy the server. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningExecutable, startExecutable } from "./support/executable.ts";
import { hostileBytes } from "./support/hostile-bytes.ts";
import { type MockLlm, startMockLlm } from "./support/mock-llm.ts";
import { chunk, doneMark } from "./support/mock-llm-replies.ts";
import { createRandom } from "./support/random.ts";
import { chatRequest, connectRaw, type RawVisitor, startRawChat } from "./support/raw-visitor.ts";

let mock: MockLlm;
let server: RunningExecutable;
let token: string;

beforeAll(async () => {
  mock = await startMockLlm();
  server = await startExecutable({
    args: ["--demo"],
    env: {
      OPENAI_BASE_URL: `${mock.url}/v1`,
      COMPANIOND_RATE_PER_IP: "1000000",
      COMPANIOND_RATE_PER_TOKEN: "1000000",
      COMPANIOND_STREAMS_PER_IP: "1000000",
    },
  });
  [token] = await server.printed(/emb_[0-9A-Za-z]{32}/);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await mock.close();
});

async function expectAlive(): Promise<void> {
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
}

/** Writes a character a second until the server has had enough. */
async function trickle(visitor: RawVisitor, text: string): Promise<void> {
  for (const character of text) {
    if (visitor.isClosed) return;
    visitor.write(character);
    await Bun.sleep(1_000);
  }
}

test("cuts every kind of slow connection, while an open stream lives on past them", async () => {
  const release = Promise.withResolvers<void>();
  mock.respond(async ({ userText }, response) => {
    await response.write(chunk({ content: "slow " }));
    if (userText === "take your time") await release.promise;
    await response.write(chunk({ content: "but alive" }) + chunk({ finishReason: "stop" }) + doneMark);
    response.end();
  });
  const question = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
  const stream = await startRawChat(server.url, token, "take your time");
  await stream.until((received) => received.includes("slow"));

  const endless = "x".repeat(120);
  const slow = {
    "says nothing": await connectRaw(server.url),
    "stops in the middle of the head": await connectRaw(server.url),
    "trickles its head": await connectRaw(server.url),
    "trickles its body": await connectRaw(server.url),
    "stays idle after a response": await connectRaw(server.url),
    "stays idle after a stream": await connectAfterStream(),
    "stops in the middle of a head after a stream": await connectAfterStream(),
    "trickles a head after a stream": await connectAfterStream(),
  };
  slow["stops in the middle of the head"].write("GET /healthz HTTP/1.1\r\nHost: a");
  slow["stops in the middle of a head after a stream"].write("GET /healthz HTTP/1.1\r\nHost: a");
  slow["stays idle after a response"].write(question);
  const head = `POST /api/embed/${token}/chat HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`;
  slow["trickles its body"].write(head);
  const trickling = [
    trickle(slow["trickles its head"], `GET /healthz HTTP/1.1\r\nX-Slow: ${endless}`),
    trickle(slow["trickles its body"], endless),
    trickle(slow["trickles a head after a stream"], `GET /healthz HTTP/1.1\r\nX-Slow: ${endless}`),
  ];
  // A stream's own patience, which is longer, must have ended with it: all are cut before the ordinary limit has passed twice.
  const cut = Promise.all(Object.values(slow).map((visitor) => visitor.closed)).then(() => "cut");
  const twice = slow["stays idle after a response"].closed.then(async () => {
    const next = await connectRaw(server.url);
    next.write(question);
    await next.closed;
    return "left in peace for longer than others";
  });
  expect(await Promise.race([cut, twice])).toBe("cut");
  await Promise.all(trickling);
  expect(slow["stays idle after a response"].received).toStartWith("HTTP/1.1 200");

  expect(stream.isClosed).toBe(false);
  release.resolve();
  await stream.until((received) => received.includes("data: [DONE]"));
  stream.vanish();
  mock.respond(null);
});

/** A connection on which a reply has been streamed to its end. */
async function connectAfterStream(): Promise<RawVisitor> {
  const visitor = await startRawChat(server.url, token, "hello");
  await visitor.until((received) => received.endsWith("\r\n0\r\n\r\n"));
  return visitor;
}

test("answers the next message on the connection of the last, whole or broken off", async () => {
  const visitor = await connectRaw(server.url);
  for (const [message, ending] of [
    ["[[say:one]]", "data: [DONE]"],
    ["[[say:one two]][[cut:1]]", ": error upstream_error"],
    ["[[fail:400]]", '"code":"upstream_error"'],
    ["[[say:four]]", '{"text":"four"}'],
  ]) {
    const before = visitor.received.length;
    visitor.write(chatRequest(token, { message }));
    const response = () => visitor.received.slice(before);
    await visitor.until(() => response().includes(ending ?? ""));
    await visitor.until(() => response().endsWith("\r\n0\r\n\r\n") || /^HTTP\/1.1 502/.test(response()));
    expect(response().toLowerCase()).not.toContain("connection: close");
  }
  visitor.vanish();
});

test("gives up a reader that takes nothing, ends the provider's request and keeps what was said", async () => {
  const filler = "\u0001".repeat(1_000);
  mock.respond(async (_, response) => {
    while (!response.isClosed) await response.write(chunk({ content: filler }));
  });
  const visitor = await connectRaw(server.url);
  visitor.pause();
  visitor.write(chatRequest(token, { message: "never read" }));
  await mock.until(() => mock.openRequests === 1);
  // As long as a stream may be silent, and a turn of the server's clock.
  await mock.until(() => mock.openRequests === 0, 60_000);
  visitor.vanish();
  mock.respond(null);
  await expectAlive();
}, 180_000);

for (const [what, bytes] of hostileBytes) {
  test(`answers ${what} with 4xx or 505, or closes, and serves on`, async () => {
    const visitor = await connectRaw(server.url);
    visitor.write(bytes);
    // An answer, or the end of the connection: the idle limit sees to it that one of them comes.
    const received = await visitor.until((text) => text.includes("\r\n\r\n")).catch(() => visitor.received);
    if (received !== "") expect(received).toMatch(/^HTTP\/1\.1 (4\d\d|505) /);
    expect(received).not.toContain("smuggled");
    visitor.vanish();
    await expectAlive();
  });
}

test("survives a thousand pieces of random bytes", async () => {
  const random = createRandom(20_260_101);
  for (let round = 0; round < 20; round++) {
    const visitors = await Promise.all(Array.from({ length: 50 }, () => connectRaw(server.url)));
    for (const visitor of visitors) {
      const bytes = Array.from({ length: random.below(400) }, () => String.fromCharCode(random.below(256))).join("");
      visitor.write(random.below(2) === 0 ? bytes : `GET /${bytes}`);
    }
    for (const visitor of visitors) visitor.vanish();
  }
  await expectAlive();
});
