/** What is read of servers that send faster than they are read: in turns, in small parts, and no more than is wanted. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHttpClient, type HttpClient } from "../../../src/lib/http/client.ts";
import { takeTurn } from "../../../src/lib/http/large-reads.ts";
import { type MockLlm, startMockLlm } from "../../support/mock-llm.ts";
import { turnsOfTheLoop } from "../../support/turns-of-the-loop.ts";

const partBytes = 16 * 1024;
const { signal } = new AbortController();
const flood = Buffer.alloc(512 * 1024, "x");
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

function send() {
  return client.send(client.prepare({ url: new URL(mock.url), method: "POST", headers: [] }), "{}", signal);
}

test("those of several connections come one in a turn of the event loop", async () => {
  const count = 6;
  mock.respond(async (_, response) => {
    while (!response.isClosed) await response.write(flood);
  });
  const responses = await Promise.all(Array.from({ length: count }, send));
  // What the kernel takes without a reader is there for all of them at once.
  for (const { body } of responses) body.pause();
  await turnsOfTheLoop(100);
  let bytesOfTurn = 0;
  let allBytes = 0;
  for (const { body } of responses) {
    body.read({
      data(part) {
        bytesOfTurn += part.length;
        allBytes += part.length;
      },
      end() {},
      fail() {},
    });
    body.resume();
  }
  const bytesOfTurns: number[] = [];
  while (allBytes < 4 * count * flood.length) {
    bytesOfTurn = 0;
    await turnsOfTheLoop(1);
    if (bytesOfTurn > 0) bytesOfTurns.push(bytesOfTurn);
  }
  for (const { body } of responses) body.cancel();
  // The first of each come together: until then nobody knows how fast they send.
  const [first = 0, ...later] = bytesOfTurns.toSorted((one, other) => other - one);
  expect(first).toBeLessThanOrEqual(count * flood.length);
  expect(Math.max(...later)).toBeLessThanOrEqual(flood.length);
});

test("each is handed on in parts, also while its reader pauses, and not after a cancel", async () => {
  mock.respond(async (_, response) => {
    while (!response.isClosed) await response.write(flood);
  });
  const { body } = await send();
  const lengths: number[] = [];
  let ofThisRead = 0;
  let isCancelled = false;
  body.read({
    data(part) {
      lengths.push(part.length);
      ofThisRead++;
      body.pause();
      expect(isCancelled).toBe(false);
      if (ofThisRead === 3) {
        isCancelled = true;
        body.cancel();
      }
      setImmediate(() => {
        ofThisRead = 0;
        body.resume();
      });
    },
    end() {},
    fail() {},
  });
  await mock.until(() => mock.openConnections === 0);
  expect(isCancelled).toBe(true);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(partBytes);
});

test("a connection that had one says no unasked word to the next request, whoever waits for a turn", async () => {
  const ended = Promise.withResolvers<void>();
  mock.respond(async (request, response) => {
    if (request.index > 0) return response.send(200, {}, "fine");
    const body = flood.subarray(0, 256 * 1024);
    response.begin(200, { "Content-Length": String(body.length) });
    await response.write(body);
    await ended.promise;
    response.writeRaw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
  });
  let turns = 0;
  const wait = () => takeTurn().then(() => turns++);
  // However many reads the body comes in, the turn of the last one is far away.
  const others = Array.from({ length: 20 }, wait);
  const { body } = await send();
  await new Promise<void>((resolve, reject) =>
    body.read({ data: () => void others.push(wait(), wait(), wait()), end: resolve, fail: reject }),
  );
  const turnsAtEnd = turns;
  ended.resolve();
  await mock.until(() => mock.openConnections === 0);
  expect(turns - turnsAtEnd).toBeLessThan(10);
  await Promise.all(others);
  expect((await send()).status).toBe(200);
});
