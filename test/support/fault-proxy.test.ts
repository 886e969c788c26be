/** The proxy that disturbs lines: what each of its states lets through. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { eventually } from "./eventually.ts";
import { startFaultProxy } from "./fault-proxy.ts";
import { connectRaw } from "./raw-visitor.ts";

let echo: Server;
let port: number;
const atEcho = new Set<Socket>();
/** What the echoing server has received, over all connections. */
let received = "";

beforeAll(async () => {
  echo = createServer((socket) => {
    atEcho.add(socket);
    socket.on("close", () => atEcho.delete(socket));
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      received += bytes.toString("latin1");
    });
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
  port = (echo.address() as { port: number }).port;
});
afterAll(() => echo.close());

const open = (proxyPort: number) => connectRaw(`http://127.0.0.1:${proxyPort}`);
const has = (text: string) => (all: string) => all.includes(text);

test("passes bytes and ends in both directions", async () => {
  await using proxy = await startFaultProxy(port);
  const visitor = await open(proxy.port);
  visitor.write("hello");
  expect(await visitor.until(has("hello"))).toBe("hello");
  for (const socket of atEcho) socket.end("bye");
  expect(await visitor.until(has("bye"))).toBe("hellobye");
  visitor.vanish();
  await eventually(() => proxy.openConnections === 0 && atEcho.size === 0);
});

test("keeps the sender waiting while the receiver reads nothing, and loses no byte", async () => {
  await using proxy = await startFaultProxy(port);
  const visitor = await open(proxy.port);
  visitor.pause();
  const size = 40_000_000;
  visitor.write(`${"x".repeat(size)}end`);
  received = "";
  // The echo stops reading once no one reads what it sends.
  let seen = -1;
  while (seen !== received.length || seen <= 0) {
    seen = received.length;
    await Bun.sleep(300);
  }
  expect(seen).toBeLessThan(size);
  visitor.resume();
  const all = await visitor.until((text) => text.length === size + 3 && text.endsWith("end"));
  expect(all.length).toBe(size + 3);
  visitor.vanish();
});

test("refuses new connections while open ones go on, and accepts again on the same port", async () => {
  await using proxy = await startFaultProxy(port);
  const { port: before } = proxy;
  const visitor = await open(proxy.port);
  visitor.write("one ");
  await visitor.until(has("one"));
  await proxy.set("refuse");
  await expect(open(proxy.port)).rejects.toThrow();
  visitor.write("two");
  expect(await visitor.until(has("two"))).toBe("one two");
  await proxy.set("pass");
  expect(proxy.port).toBe(before);
  const second = await open(proxy.port);
  second.write("three");
  expect(await second.until(has("three"))).toBe("three");
});

test("cuts open connections at both ends", async () => {
  await using proxy = await startFaultProxy(port);
  const visitor = await open(proxy.port);
  visitor.write("hello");
  await visitor.until(has("hello"));
  proxy.cut();
  expect(await visitor.closed).toBe("hello");
  await eventually(() => atEcho.size === 0);
});

test("swallows what open and new connections send, and cuts them when that ends", async () => {
  await using proxy = await startFaultProxy(port);
  const visitor = await open(proxy.port);
  visitor.write("before");
  await visitor.until(has("before"));
  received = "";
  await proxy.set("swallow");
  visitor.write("lost");
  const late = await open(proxy.port);
  late.write("lost too");
  for (const socket of atEcho) socket.write("nobody hears this");
  await eventually(() => proxy.swallowedBytes === "lost".length + "lost too".length + "nobody hears this".length);
  expect(received).toBe("");
  await proxy.set("pass");
  expect(await visitor.closed).toBe("before");
  expect(await late.closed).toBe("");
  const after = await open(proxy.port);
  after.write("after");
  expect(await after.until(has("after"))).toBe("after");
});

test("gives up on the far side of what it swallows, while the near side notices nothing", async () => {
  await using proxy = await startFaultProxy(port);
  const visitor = await open(proxy.port);
  visitor.write("before");
  await visitor.until(has("before"));
  await proxy.set("swallow");
  proxy.giveUp();
  await eventually(() => atEcho.size === 0);
  visitor.write("lost");
  await eventually(() => proxy.swallowedBytes === "lost".length);
  expect(visitor.isClosed).toBe(false);
  await proxy.set("pass");
  expect(await visitor.closed).toBe("before");
});

test("holds what is sent until that ends, even that of a sender who has left", async () => {
  await using proxy = await startFaultProxy(port);
  const [visitor, leaver] = [await open(proxy.port), await open(proxy.port)];
  for (const one of [visitor, leaver]) {
    one.write("before ");
    await one.until(has("before"));
  }
  received = "";
  await proxy.set("hold");
  visitor.write("held");
  leaver.write("left behind");
  leaver.end();
  const late = await open(proxy.port);
  late.write("late");
  expect(received).toBe("");
  await proxy.set("pass");
  expect(await visitor.until(has("held"))).toBe("before held");
  expect(await late.until(has("late"))).toBe("late");
  await eventually(() => received.includes("left behind"));
});

test("delays pieces and keeps their order", async () => {
  await using proxy = await startFaultProxy(port);
  const visitor = await open(proxy.port);
  await proxy.set({ delayMs: 200 });
  const pieces = Array.from({ length: 20 }, (_, piece) => `${piece} `);
  const startedMs = performance.now();
  for (const piece of pieces) visitor.write(piece);
  expect(await visitor.until(has("19"))).toBe(pieces.join(""));
  // There and back; a busy machine takes longer, never less.
  expect(performance.now() - startedMs).toBeGreaterThan(399);
});

test("holds answers from the piece on that asks for them, while others pass", async () => {
  await using proxy = await startFaultProxy(port);
  const [one, other] = [await open(proxy.port), await open(proxy.port)];
  await proxy.set({ holdAfter: "secret" });
  one.write("a secret");
  await eventually(() => received.includes("a secret"));
  other.write("plain");
  expect(await other.until(has("plain"))).toBe("plain");
  expect(one.received).toBe("");
  await proxy.set("pass");
  expect(await one.until(has("a secret"))).toBe("a secret");
});

test("loses every third of a channel's notifications, and nothing else that comes with them", async () => {
  await using proxy = await startFaultProxy(port);
  const notice = (channel: string, payload: string) => {
    const body = Buffer.from(`\0\0\0\0${channel}\0${payload}\0`);
    const head = Buffer.alloc(5, "A");
    head.writeInt32BE(4 + body.length, 1);
    return Buffer.concat([head, body]);
  };
  const sent = [1, 2, 3, 4].flatMap((number) => [notice("one", `${number}`), notice("other", `${number}`)]);
  const visitor = await open(proxy.port);
  await proxy.set({ lossyChannel: "one" });
  visitor.write(Buffer.concat([...sent, Buffer.from("end")]).toString("latin1"));
  const expected = Buffer.concat([...sent.filter((_, at) => at !== 4), Buffer.from("end")]);
  expect(await visitor.until((text) => text.endsWith("end"))).toBe(expected.toString("latin1"));
  expect(proxy.lostNotices).toBe(1);
});
