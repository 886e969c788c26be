/** Hundreds of visitors at once, leaving at once, stalling and vanishing: the executable serves on, and nothing is left behind. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { eventually } from "./support/eventually.ts";
import { type RunningExecutable, startExecutable } from "./support/executable.ts";
import { isFull } from "./support/full.ts";
import { type MockLlm, startMockLlm } from "./support/mock-llm.ts";
import { chunk, doneMark } from "./support/mock-llm-replies.ts";
import { chatRequest, connectRaw, type RawVisitor, startRawChat } from "./support/raw-visitor.ts";
import { residentKiB, settledKiB } from "./support/resident-memory.ts";

let mock: MockLlm;
let server: RunningExecutable;
let token: string;

beforeAll(async () => {
  mock = await startMockLlm();
  // Nothing is set that crowds would need: only limits and quotas are raised.
  server = await startExecutable({ args: ["--demo"], env: environment() });
  const [found] = await server.printed(/emb_[0-9A-Za-z]{32}/);
  token = found;
});
beforeEach(() => mock.respond(null));
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await mock.close();
});

function environment(): Record<string, string> {
  return {
    OPENAI_BASE_URL: `${mock.url}/v1`,
    COMPANIOND_RATE_PER_IP: "1000000",
    COMPANIOND_STREAMS_PER_IP: "1000000",
    COMPANIOND_RATE_PER_TOKEN: "1000000",
    COMPANIOND_DAILY_FREE: "1000000",
  };
}

const isAlive = async () => (await fetch(`${server.url}/healthz`)).ok;

test("gives 600 visitors their first text at once, and 300 who leave together end nothing but their own replies", async () => {
  const finish = Promise.withResolvers<void>();
  mock.respond(async (_, response) => {
    await response.write(chunk({ content: "first" }));
    await finish.promise;
    await response.write(chunk({ content: " last" }) + chunk({ finishReason: "stop" }) + doneMark);
    response.end();
  });
  const visitors: RawVisitor[] = await Promise.all(
    Array.from({ length: 600 }, (_, index) => startRawChat(server.url, token, `hello ${index}`)),
  );
  // No reply ends before all have begun: with a limit on provider requests this would wait for ever.
  await Promise.all(visitors.map((visitor) => visitor.until((received) => received.includes('{"text":"first"}'))));
  expect(mock.openRequests).toBe(600);

  for (const visitor of visitors.slice(0, 300)) visitor.vanish();
  await mock.until(() => mock.openRequests === 300);
  expect(await isAlive()).toBe(true);

  finish.resolve();
  const rest = visitors.slice(300);
  await Promise.all(rest.map((visitor) => visitor.until((received) => received.includes("data: [DONE]\n\n"))));
  for (const visitor of rest) visitor.vanish();
  await mock.until(() => mock.openRequests === 0);
});

test("is not ended by visitors who vanish at every moment of a reply, and keeps no provider request running", async () => {
  for (let round = 0; round < 10; round++) {
    const visitors = await Promise.all(
      Array.from({ length: 60 }, () => startRawChat(server.url, token, "[[words:50]][[delay:1]]")),
    );
    await Promise.all(visitors.map((visitor, index) => vanishAfter(visitor, index)));
  }
  await mock.until(() => mock.openRequests === 0);
  expect(await isAlive()).toBe(true);
});

/** The later its place, the more of the reply a visitor waits for; the first ones vanish before any of it. */
async function vanishAfter(visitor: RawVisitor, events: number): Promise<void> {
  if (events > 0) await visitor.until((received) => received.split("data: ").length > Math.min(events, 40));
  visitor.vanish();
}

/** Each that leaked as much as 15 KB would be seen; in `full` a sixth of that. */
const aborted = isFull ? 20_000 : 3_000;

test(`has its memory back after ${aborted} aborted streams`, async () => {
  mock.respond(async (_, response) => {
    await response.write(chunk({ content: "first" }));
    await response.closed;
  });
  const abortMany = async (count: number) => {
    let left = count;
    const worker = async () => {
      while (left-- > 0) {
        const visitor = await startRawChat(server.url, token, "hello");
        await visitor.until((received) => received.includes("first"));
        visitor.vanish();
      }
    };
    await Promise.all(Array.from({ length: 100 }, worker));
    await mock.until(() => mock.openRequests === 0);
  };
  await abortMany(3_000);
  const beforeKiB = await settledKiB(server.pid);
  await abortMany(aborted);
  // The collector takes its time in an idle process; what has leaked never comes back.
  const isGivenBack = () => residentKiB(server.pid) <= 1.3 * beforeKiB;
  await eventually(isGivenBack, { what: "memory near what it was before", withinMs: 90_000, everyMs: 500 });
  expect(isGivenBack()).toBe(true);
}, 300_000);

test("holds the provider back while a visitor reads nothing, then delivers every word", async () => {
  // Six bytes on the wire for each of these characters: more than the sockets to the visitor can hold. The comments, which
  // go no further than to us, do the same to the sockets from the provider.
  const filler = "\u0001".repeat(1_000);
  const comment = `: ${"-".repeat(200_000)}\n\n`;
  const total = 1_000;
  let written = 0;
  mock.respond(async (_, response) => {
    for (; written < total && !response.isClosed; written++)
      await response.write(comment + chunk({ content: `${written} ${filler}` }));
    await response.write(chunk({ finishReason: "stop" }) + doneMark);
    response.end();
  });
  const visitor = await connectRaw(server.url);
  visitor.pause();
  visitor.write(chatRequest(token, { message: "a long story" }));
  // What stands still for a while is held back; without back-pressure the provider would have written everything.
  let seen = -1;
  while (written === 0 || seen !== written) {
    seen = written;
    await Bun.sleep(500);
  }
  expect(written).toBeLessThan(total);

  visitor.resume();
  const received = await visitor.until((text) => text.endsWith("data: [DONE]\n\n\r\n0\r\n\r\n"));
  visitor.vanish();
  const body = received.slice(received.indexOf("\r\n\r\n")).replace(/\r\n[0-9a-f]*\r\n/g, "");
  const texts = [...body.matchAll(/data: (\{.*?\})\n/g)].map((match): string => JSON.parse(match[1] ?? "").text);
  expect(texts).toEqual(Array.from({ length: total }, (_, index) => `${index} ${filler}`));
});
