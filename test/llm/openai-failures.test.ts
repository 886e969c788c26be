import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import type { LlmProvider } from "../../src/contracts/llm/provider.ts";
import { AppError } from "../../src/domain/errors.ts";
import { createOpenAiProvider, type OpenAiOptions } from "../../src/engines/openai/openai.ts";
import { replyRequest } from "../contracts/llm-provider.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { collectReply } from "../support/collected-reply.ts";
import { eventually } from "../support/eventually.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { chunk, event } from "../support/mock-llm-replies.ts";
import { createVirtualTime, type VirtualTime } from "../support/virtual-time.ts";

let time: VirtualTime;
let mock: MockLlm;
let opened: LlmProvider[];
let log: ReturnType<typeof createCapturedLog>;
beforeEach(async () => {
  opened = [];
  log = createCapturedLog();
  time = createVirtualTime();
  mock = await startMockLlm();
});
afterEach(async () => {
  for (const provider of opened) provider.close();
  await mock.close();
});

const apiKey = "a-key-of-no-known-form-1234567890";

function open(options: Partial<OpenAiOptions> = {}): LlmProvider {
  const provider = createOpenAiProvider({
    apiKey,
    baseUrl: `${mock.url}/v1`,
    extra: {},
    log,
    backoffMs: 1,
    ...options,
  });
  opened.push(provider);
  return provider;
}

async function ask(provider: LlmProvider, text: string) {
  const reply = collectReply();
  const outcome = await provider.streamReply(replyRequest(text), reply, new AbortController().signal);
  return { ...outcome, text: reply.text };
}

/** The private reason of a failure before the first text. */
async function failureOf(asked: Promise<unknown>): Promise<string> {
  const error = await asked.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AppError) || !(error.cause instanceof Error)) throw new Error("not an AppError with a cause");
  expect(error.code).toBe("upstream_error");
  expect(error.message).toMatch(/^The language model /);
  return error.cause.message;
}

describe("before the first text", () => {
  const refusals: [string, number, RegExp][] = [
    ["[[fail:400]]", 1, /400 Unsupported/],
    ["[[fail:401]]", 1, /401 Incorrect API key/],
    ["[[fail:404]]", 1, /404 The model/],
    ["[[fail:429]]", 3, /429 Rate limit/],
    ["[[fail:500]]", 3, /500 The server/],
    ["[[fail:503]]", 3, /503 The server/],
    ["[[html]]", 1, /HTML/],
    ["[[garbage:0]]", 1, /not JSON/],
    ["[[error:0]]", 1, /reported an error/],
    ["[[cut:0]]", 3, /broke off/],
    ["[[reset:0]]", 3, /broke off/],
  ];
  for (const [directive, attempts, reason] of refusals) {
    test(`${directive} is refused after ${attempts} attempts`, async () => {
      expect(await failureOf(ask(open(), directive))).toMatch(reason);
      expect(mock.requests).toHaveLength(attempts);
      await mock.until(() => mock.openRequests === 0);
    });
  }

  test("a provider that recovers is answered from", async () => {
    for (const status of [429, 500, 502]) {
      const text = `[[fail:${status}]][[times:2]] hi`;
      expect(await ask(open(), text)).toMatchObject({ text: "You said: hi", complete: true });
    }
    expect(mock.requests).toHaveLength(9);
    expect(log.events.filter(({ event }) => event === "provider failed, trying again")).toHaveLength(6);
  });

  test("an empty reply is a failure, whatever its finish_reason", async () => {
    for (const parts of [[], [chunk({ finishReason: "length" })], [chunk({ content: "" }), "data: [DONE]\n\n"]]) {
      mock.respond(async (_, response) => {
        await response.write(`: nothing\n\n${parts.join("")}`);
        response.end();
      });
      expect(await failureOf(ask(open(), "Hi"))).toMatch(/empty|without any text/);
    }
    mock.respond((_, response) => response.send(200, {}, ""));
    expect(await failureOf(ask(open(), "Hi"))).toMatch(/without any text/);
    expect(mock.requests).toHaveLength(4);
  });

  test("an error in the stream is retried when its status says so", async () => {
    mock.respond(async (request, response) => {
      await response.write(event({ error: { code: request.index === 0 ? 503 : 400, message: "no" } }));
      response.end();
    });
    await failureOf(ask(open(), "Hi"));
    expect(mock.requests).toHaveLength(2);
  });

  test("an address where nobody listens is a failure after three attempts", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await new Promise((resolve) => server.close(resolve));
    const reason = await failureOf(ask(open({ baseUrl: `http://127.0.0.1:${port}/v1` }), "Hi"));
    expect(reason).toMatch(/could not be made.*ECONNREFUSED/);
    expect(log.events).toHaveLength(2);
  });

  test("what does not speak HTTP is a failure", async () => {
    mock.respond((_, response) => {
      response.writeRaw("SSH-2.0-OpenSSH_9.9\r\n\r\n");
    });
    expect(await failureOf(ask(open(), "Hi"))).toMatch(/not an HTTP\/1\.1 response/);
  });

  test("a redirect is not followed: the key stays where the operator sent it", async () => {
    mock.respond((_, response) => response.send(307, { Location: `${mock.url}/elsewhere` }, ""));
    expect(await failureOf(ask(open(), "Hi"))).toMatch(/307/);
    expect(mock.requests).toHaveLength(1);
  });

  test("a provider that says not to retry is not asked again", async () => {
    mock.respond((_, response) => response.send(429, { "x-should-retry": "false" }, "{}"));
    expect(await failureOf(ask(open(), "Hi"))).toMatch(/429/);
    expect(mock.requests).toHaveLength(1);
  });

  test("no response at all ends at the deadline, which all attempts share", async () => {
    const provider = open({ time, deadlines: { firstTextMs: 400 }, backoffMs: 60_000 });
    const isAsked = () => mock.openRequests === 1;
    const isBetweenAttempts = () => log.events.length === 1;
    const cases = [
      ["[[hang]]", isAsked],
      ["[[silence:0]]", isAsked],
      ["[[fail:500]]", isBetweenAttempts],
    ] as const;
    for (const [text, isReached] of cases) {
      const failure = failureOf(ask(provider, text));
      await eventually(isReached);
      await time.pass(400);
      expect(await failure).toMatch(/no text after 400 ms/);
      await mock.until(() => mock.openRequests === 0);
    }
    expect(mock.requests).toHaveLength(3);
  });

  test("comments and reasoning do not count as text, but reasoning may take longer", async () => {
    const written = Promise.withResolvers<void>();
    mock.respond(async (_, response) => {
      for (let piece = 0; !response.isClosed; piece++) {
        await response.write(`: PROCESSING\n\n${chunk({ content: null, delta: { reasoning: "hm" } })}`);
        if (piece === 100) written.resolve();
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    const failure = failureOf(ask(open({ time }), "Hi"));
    await written.promise;
    await time.pass(300_000);
    expect(await failure).toMatch(/no text after 300000 ms/);
  });

  test("an endless error page is read in part", async () => {
    mock.respond(async (_, response) => {
      response.begin(500, { "Content-Type": "text/plain" });
      while (!response.isClosed) await response.write("x".repeat(10_000));
    });
    expect((await failureOf(ask(open(), "Hi"))).length).toBeLessThan(3_000);
  });

  test("the key is in no reason and in no line of the log", async () => {
    mock.respond((_, response) => response.send(500, {}, `{"error":{"message":"bad key ${apiKey}"}}`));
    expect(await failureOf(ask(open(), "Hi"))).toMatch(/500 bad key \[key\]/);
    expect(log.text()).not.toContain(apiKey);
  });

  test("words of the prompt and of the visitor are in no reason, however the provider repeats them", async () => {
    mock.respond((request, response) => {
      const input = JSON.stringify(request.body.messages);
      const message = `invalid input ${input}, which is: ${request.userText}`;
      response.send(422, {}, JSON.stringify({ error: { message } }));
    });
    const reason = await failureOf(ask(open(), '(I) said "hush"\nin two lines'));
    expect(reason).toContain("422 invalid input");
    expect(reason).not.toMatch(/hush|two lines|Ada/);
  });

  test("a short message takes no words of the reason apart", async () => {
    mock.respond((_, response) => response.send(400, {}, '{"error":{"message":"this is it: hi"}}'));
    expect(await failureOf(ask(open(), "hi"))).toBe("the provider answered 400 this is it: [private]");
  });
});

describe("after the first text", () => {
  const breaks: [string, RegExp][] = [
    ["[[cut:3]]", /broke off/],
    ["[[reset:3]]", /broke off/],
    ["[[garbage:3]]", /not JSON/],
    ["[[error:3]]", /reported an error/],
  ];
  for (const [directive, reason] of breaks) {
    test(`${directive} leaves an incomplete reply, and nothing is retried`, async () => {
      const { text, complete, failure } = await ask(open(), `one two three ${directive}`);
      expect({ text, complete }).toEqual({ text: "You said: one ", complete: false });
      expect(failure).toMatchObject({ message: expect.stringMatching(reason) });
      expect(mock.requests).toHaveLength(1);
    });
  }

  test("the key and what was said are in no reason", async () => {
    mock.respond(async (request, response) => {
      await response.write(chunk({ content: "Well" }));
      await response.write(event({ error: { message: `${apiKey} cannot say ${request.userText}` } }));
      response.end();
    });
    const { failure } = await ask(open(), "a secret");
    expect(failure).toMatchObject({ message: expect.stringContaining("[key] cannot say [private]") });
    expect(String(failure instanceof Error && failure.stack)).not.toContain("a secret");
  });

  test("silence ends at its deadline, however long the reply went on before", async () => {
    const said = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
    mock.respond(async (_, response) => {
      for (const [word, { promise }] of said.entries()) {
        await response.write(chunk({ content: `${word} ` }));
        await promise;
      }
      await response.closed;
    });
    const reply = collectReply();
    const outcome = open({ time }).streamReply(replyRequest("Hi"), reply, new AbortController().signal);
    for (const [word, { resolve }] of said.entries()) {
      await eventually(() => reply.writes.length === word + 1);
      await time.pass(50_000);
      resolve();
    }
    await time.pass(10_000);
    expect(await outcome).toMatchObject({ complete: false, failure: { message: "silent for 60000 ms" } });
    expect(reply.text).toBe("0 1 2 3 4 ");
    await mock.until(() => mock.openRequests === 0);
  });

  test("a reply without end is ended", async () => {
    mock.respond(async (_, response) => {
      while (!response.isClosed) {
        await response.write(chunk({ content: "on and " }));
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    const reply = collectReply();
    const outcome = open({ time, deadlines: { totalMs: 30_000 } }).streamReply(
      replyRequest("Hi"),
      reply,
      new AbortController().signal,
    );
    await eventually(() => reply.text.startsWith("on and on and "));
    await time.pass(30_000);
    expect(await outcome).toMatchObject({ complete: false, failure: { message: "no end after 30000 ms" } });
    await mock.until(() => mock.openRequests === 0);
  });

  test("the time that the visitor takes is not the provider's silence", async () => {
    const ready = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const reply = collectReply(() => (reply.writes.length === 1 ? ready.promise : undefined));
    mock.respond(async (_, response) => {
      await response.write(chunk({ content: "slow " }));
      await goOn.promise;
      await response.write(chunk({ content: "reader" }) + chunk({ finishReason: "stop" }));
      response.end();
    });
    const streaming = open({ time }).streamReply(replyRequest("Hi"), reply, new AbortController().signal);
    await reply.firstWrite;
    await time.pass(70_000);
    ready.resolve();
    // The provider, too, has its whole time again.
    await time.pass(50_000);
    goOn.resolve();
    expect(await streaming).toMatchObject({ complete: true });
    expect(reply.text).toBe("slow reader");
  });
});

test("waits as long as Retry-After says", async () => {
  mock.respond((request, response) => {
    if (request.index === 0) response.send(429, { "Retry-After": "0.05" }, "{}");
    else response.send(404, {}, "{}");
  });
  await failureOf(ask(open(), "Hi"));
  expect(log.events[0]?.fields).toMatchObject({ retry: 1, delayMs: 50, requestId: "request-1" });
});
