/** `POST /api/embed/{token}/chat` as its visitors and its database see it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { chat, type Problem, readProblem, sendChat } from "../support/chat.ts";
import { eventually } from "../support/eventually.ts";
import { chunk } from "../support/mock-llm-replies.ts";
import { keptMessages } from "../support/turn-messages.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const session = "0b6c1de2-7f0a-4c59-9c3e-3c6f3f0e8a11";
const visitor = "9a0e7a34-54c8-4f0e-8f6d-0a1b2c3d4e5f";

const today = () => new Date().toISOString().slice(0, 10);

describe("a reply", () => {
  test("streams as events and ends with the terminator, under the promised headers", async () => {
    const { embedToken } = await server.createCompanion();
    const response = await chat(server.url, embedToken, { message: "[[say:Hello you]]", session_id: session });
    expect(response.status).toBe(200);
    expect(response.raw).toBe('data: {"text":"Hello "}\n\ndata: {"text":"you"}\n\ndata: [DONE]\n\n');
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(response.headers.get("x-session-id")).toBe(session);
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  });

  test("is read alike by a standard event-stream parser", async () => {
    const { embedToken } = await server.createCompanion();
    const { raw, text } = await chat(server.url, embedToken, { message: '[[say:Grüße, \\ "quoted" 😀]]' });
    const events: EventSourceMessage[] = [];
    createParser({ onEvent: (event) => events.push(event) }).feed(raw);
    const texts = events.filter((event) => event.data !== "[DONE]").map((event) => JSON.parse(event.data).text);
    expect(texts.join("")).toBe(text);
    expect(events.at(-1)?.data).toBe("[DONE]");
  });

  test("is kept with the message, its usage and the day's count before the terminator", async () => {
    const companion = await server.createCompanion();
    await chat(server.url, companion.embedToken, { message: "[[say:Kept]]", session_id: session, visitor_id: visitor });
    expect(await keptMessages(server, companion)).toMatchObject([
      { role: "user", channel: "text", text: "[[say:Kept]]", complete: true },
      {
        role: "assistant",
        channel: "text",
        text: "Kept",
        complete: true,
        inputTokens: 11,
        outputTokens: 7,
        tokensEstimated: false,
      },
    ]);
    expect(await server.services.store.turns.countDay(companion.id, today())).toBe(1);
  });

  test("has its tokens estimated and marked where the provider counts none", async () => {
    const companion = await server.createCompanion();
    await chat(server.url, companion.embedToken, { message: "[[nousage]][[say:12345678]]" });
    const reply = (await keptMessages(server, companion)).at(-1);
    expect(reply).toMatchObject({ outputTokens: 2, tokensEstimated: true });
  });

  test("counts as complete when the provider ended it for length", async () => {
    const companion = await server.createCompanion();
    const response = await chat(server.url, companion.embedToken, {
      message: "[[finish:length]][[say:cut by length]]",
    });
    expect(response.isDone).toBe(true);
    expect((await keptMessages(server, companion)).at(-1)?.complete).toBe(true);
  });
});

describe("what the model is sent", () => {
  test("is the prompt, the earlier turns and the message, with the companion's own parameters only", async () => {
    const companion = await server.createCompanion({
      systemPrompt: "Be brief.",
      temperature: 0.3,
      maxOutputTokens: 50,
    });
    const body = { session_id: session, visitor_id: visitor };
    await chat(server.url, companion.embedToken, { ...body, message: "[[say:one]]" });
    await chat(server.url, companion.embedToken, { ...body, message: "second" });
    const sent = server.mockLlm.requests.at(-1)?.body;
    expect(sent).toMatchObject({
      model: "test-model",
      stream: true,
      temperature: 0.3,
      max_tokens: 50,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "[[say:one]]" },
        { role: "assistant", content: "one" },
        { role: "user", content: "second" },
      ],
    });
  });

  test("keeps to what the operator offers, also where it was more when the companion was saved", async () => {
    const companion = await server.createCompanion({ model: "dearer-model", maxOutputTokens: 100_000 });
    await chat(server.url, companion.embedToken, { message: "plain" });
    expect(server.mockLlm.requests.at(-1)?.body).toMatchObject({ model: "test-model", max_tokens: 4096 });
  });

  test("holds no parameter that nobody set, but the output bound", async () => {
    const companion = await server.createCompanion();
    await chat(server.url, companion.embedToken, { message: "plain" });
    const sent = server.mockLlm.requests.at(-1)?.body ?? {};
    expect(Object.keys(sent).sort()).toEqual(["max_tokens", "messages", "model", "stream", "stream_options"]);
    expect(sent["max_tokens"]).toBe(4096);
    expect(sent["messages"]).toEqual([{ role: "user", content: "plain" }]);
  });

  test("never holds another visitor's turns, nor those of the same session without a visitor", async () => {
    const companion = await server.createCompanion();
    await chat(server.url, companion.embedToken, { message: "mine", session_id: session, visitor_id: visitor });
    await chat(server.url, companion.embedToken, { message: "nobody's", session_id: session });
    expect(server.mockLlm.requests.at(-1)?.body["messages"]).toEqual([{ role: "user", content: "nobody's" }]);
    const other = "11111111-2222-4333-8444-555555555555";
    await chat(server.url, companion.embedToken, { message: "theirs", session_id: session, visitor_id: other });
    expect(server.mockLlm.requests.at(-1)?.body["messages"]).toEqual([{ role: "user", content: "theirs" }]);
  });

  test("takes session and visitor in any letter case for the same conversation", async () => {
    const companion = await server.createCompanion();
    await chat(server.url, companion.embedToken, { message: "first", session_id: session, visitor_id: visitor });
    const shouted = { session_id: session.toUpperCase(), visitor_id: visitor.toUpperCase() };
    const response = await chat(server.url, companion.embedToken, { message: "again", ...shouted });
    expect(server.mockLlm.requests.at(-1)?.body["messages"]).toHaveLength(3);
    expect(response.headers.get("x-session-id")).toBe(session);
  });

  test("keeps the newest turns within context_tokens, beginning with a user's", async () => {
    const companion = await server.createCompanion({ contextTokens: 9 });
    const body = { session_id: session, visitor_id: visitor };
    for (const word of ["aaaa", "bbbb", "cccc"]) {
      await chat(server.url, companion.embedToken, { ...body, message: `[[say:${word}]]` });
    }
    await chat(server.url, companion.embedToken, { ...body, message: "last" });
    // A turn is 3 + 1 estimated tokens: two fit, and the third one's reply alone would not begin with a user's.
    expect(server.mockLlm.requests.at(-1)?.body["messages"]).toEqual([
      { role: "user", content: "[[say:bbbb]]" },
      { role: "assistant", content: "bbbb" },
      { role: "user", content: "[[say:cccc]]" },
      { role: "assistant", content: "cccc" },
      { role: "user", content: "last" },
    ]);
  });

  test("leaves of context_tokens what instructions and message do not take for earlier turns", async () => {
    // 6 tokens of instructions, 1 of message: of 15, 8 are left, and a turn here is 4.
    const instructions = "Speak of weaving only..";
    const companion = await server.createCompanion({ contextTokens: 15, systemPrompt: instructions });
    const body = { session_id: session, visitor_id: visitor };
    const sent = () => JSON.stringify(server.mockLlm.requests.at(-1)?.body["messages"]).match(/(?<="content":")[^"]*/g);
    for (const word of ["aaaa", "bbbb", "cccc"]) {
      await chat(server.url, companion.embedToken, { ...body, message: `[[say:${word}]]` });
    }
    await chat(server.url, companion.embedToken, { ...body, message: "last" });
    expect(sent()).toEqual([instructions, "[[say:bbbb]]", "bbbb", "[[say:cccc]]", "cccc", "last"]);
    const longer = "[[say:Nothing of what was said fits beside this.]]";
    await chat(server.url, companion.embedToken, { ...body, message: longer });
    expect(sent()).toEqual([instructions, longer]);
  });

  test("sends no more of a conversation than the operator's limit has room for, whatever was set before", async () => {
    const companion = await server.createCompanion({ contextTokens: 10_000_000 });
    const body = { session_id: session, visitor_id: visitor };
    for (const letter of ["a", "b"]) {
      server.mockLlm.respond(async (_, response) => {
        const half = chunk({ content: letter.repeat(250_000) });
        await response.write(`${half}${half}${chunk({ finishReason: "stop" })}data: [DONE]\n\n`);
        response.end();
      });
      await chat(server.url, companion.embedToken, { ...body, message: letter });
    }
    server.mockLlm.respond(null);
    await chat(server.url, companion.embedToken, { ...body, message: "last" });
    const sent = server.mockLlm.requests.at(-1)?.body["messages"] as { content: string }[];
    expect(sent.map(({ content }) => content.slice(0, 4))).toEqual(["b", "bbbb", "last"]);
  });

  test("begins a new conversation without session_id, whose random id comes back", async () => {
    const { embedToken } = await server.createCompanion();
    const first = await chat(server.url, embedToken, { message: "a" });
    const second = await chat(server.url, embedToken, {
      message: "b",
      session_id: null,
      visitor_id: null,
      message_id: null,
      resume: null,
    });
    const ids = [first, second].map((response) => response.headers.get("x-session-id"));
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(ids[0]).not.toBe(ids[1]);
    expect(server.mockLlm.requests.at(-1)?.body["messages"]).toHaveLength(1);
  });
});

describe("a body that breaks the rules", () => {
  const bad: [string, string, number][] = [
    ["no message", "{}", 400],
    ["a message of another type", '{"message":5}', 400],
    ["an empty message", '{"message":""}', 400],
    ["only white space", '{"message":" \\n\\t\\u3000 "}', 400],
    ["2001 code points", JSON.stringify({ message: "😀".repeat(2001) }), 400],
    ["a lone surrogate", '{"message":"a\\ud800b"}', 400],
    ["a NUL", '{"message":"a\\u0000b"}', 400],
    ["a session_id that is no UUID", '{"message":"a","session_id":"abc"}', 400],
    ["a visitor_id that is no UUID", '{"message":"a","visitor_id":7}', 400],
    ["half a JSON text", '{"message":"a"', 400],
    ["a JSON value that is no object", '["a"]', 400],
    ["a body over 64 KiB", JSON.stringify({ message: "a", padding: "x".repeat(65_536) }), 413],
  ];
  for (const [what, body, status] of bad) {
    test(`gets ${status} for ${what}, and nothing is asked, counted or kept`, async () => {
      const companion = await server.createCompanion();
      const asked = server.mockLlm.requests.length;
      const response = await sendChat(server.url, companion.embedToken, body);
      expect(response.status).toBe(status);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(response.headers.get("access-control-allow-origin")).toBe("*");
      const problem = await readProblem(response);
      expect(problem).toMatchObject({ status, code: status === 413 ? "payload_too_large" : "invalid_request" });
      expect(response.headers.get("x-request-id")).toBe(problem.request_id);
      expect(server.mockLlm.requests.length).toBe(asked);
      expect(await keptMessages(server, companion)).toEqual([]);
      expect(await server.services.store.turns.countDay(companion.id, today())).toBe(0);
    });
  }

  test("gets 400 for bytes that are not UTF-8", async () => {
    const { embedToken } = await server.createCompanion();
    const body = Buffer.concat([Buffer.from('{"message":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    expect((await sendChat(server.url, embedToken, "", { body })).status).toBe(400);
  });

  test("gets 415 for another content type, forms and plain text included", async () => {
    const { embedToken } = await server.createCompanion();
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/jsonp",
    ]) {
      const headers = { "content-type": type };
      expect((await sendChat(server.url, embedToken, { message: "a" }, { headers })).status).toBe(415);
    }
    expect((await fetch(`${server.url}/api/embed/${embedToken}/chat`, { method: "POST" })).status).toBe(415);
    const headers = { "content-type": "application/json; charset=utf-8" };
    expect((await sendChat(server.url, embedToken, { message: "a" }, { headers })).status).toBe(200);
  });

  test("has unknown fields ignored", async () => {
    const { embedToken } = await server.createCompanion();
    expect((await chat(server.url, embedToken, { message: "a", page: "/x" })).isDone).toBe(true);
  });

  test("takes exactly 2000 code points", async () => {
    const { embedToken } = await server.createCompanion();
    expect((await chat(server.url, embedToken, { message: "😀".repeat(2000) })).isDone).toBe(true);
  });
});

describe("a provider that fails", () => {
  for (const directive of [
    "[[fail:400]]",
    "[[fail:401]]",
    "[[fail:404]]",
    "[[fail:500]]",
    "[[html]]",
    "[[cut:0]]",
    "[[error:0]]",
    "[[garbage:0]]",
  ]) {
    test(`before its first text gives 502 for ${directive}, costs nothing and says nothing of the provider`, async () => {
      const companion = await server.createCompanion();
      const response = await sendChat(server.url, companion.embedToken, { message: directive });
      const text = await response.text();
      expect(response.status).toBe(502);
      expect(JSON.parse(text).code).toBe("upstream_error");
      expect(text).not.toContain("sk-");
      expect(text).not.toContain(server.mockLlm.url);
      expect(await keptMessages(server, companion)).toEqual([]);
      expect(await server.services.store.turns.countDay(companion.id, today())).toBe(0);
    });
  }

  for (const directive of ["[[cut:2]]", "[[reset:2]]", "[[error:2]]", "[[garbage:2]]"]) {
    test(`midway ends the stream for ${directive} without the terminator, keeping what arrived as incomplete`, async () => {
      const companion = await server.createCompanion();
      const response = await chat(server.url, companion.embedToken, { message: `${directive}[[say:one two three]]` });
      expect(response.status).toBe(200);
      expect(response.isDone).toBe(false);
      expect(response.raw).toEndWith("\n\n: error upstream_error\n\n");
      expect(response.text).toBe("one two ");
      expect((await keptMessages(server, companion)).at(-1)).toMatchObject({ text: "one two ", complete: false });
      expect(await server.services.store.turns.countDay(companion.id, today())).toBe(1);
    });
  }

  test("is retried after 429 and 5xx", async () => {
    const { embedToken } = await server.createCompanion();
    expect((await chat(server.url, embedToken, { message: "[[fail:503]][[times:2]][[say:third time]]" })).text).toBe(
      "third time",
    );
  });

  test("keeps its words out of the response, and its secrets out of the log", async () => {
    const { embedToken } = await server.createCompanion();
    const response = await sendChat(server.url, embedToken, { message: "[[fail:401]] a-visitor's-word" });
    const requestId = response.headers.get("x-request-id");
    const lines = server.log.events.filter(
      ({ event, fields }) => event !== "request" && fields.requestId === requestId,
    );
    expect(lines).toMatchObject([{ event: "request failed", fields: { code: "upstream_error" } }]);
    expect(server.log.text()).not.toContain("sk-test-key");
    expect(server.log.text()).not.toContain("a-visitor's-word");
    expect(server.log.text()).not.toContain(embedToken);
  });
});

describe("a visitor who leaves", () => {
  test("ends the provider's request, and the partial reply is kept as incomplete and counted", async () => {
    const companion = await server.createCompanion();
    const leaving = new AbortController();
    const response = await sendChat(
      server.url,
      companion.embedToken,
      { message: "[[silence:2]][[say:one two three]]" },
      { signal: leaving.signal },
    );
    const reader = response.body?.getReader();
    let seen = "";
    while (!seen.includes("two")) seen += new TextDecoder().decode((await reader?.read())?.value);
    leaving.abort();
    await server.mockLlm.until(() => server.mockLlm.openRequests === 0);
    await server.services.openTurns.whenEnded();
    expect((await keptMessages(server, companion)).at(-1)).toMatchObject({
      role: "assistant",
      text: "one two ",
      complete: false,
    });
    expect(await server.services.store.turns.countDay(companion.id, today())).toBe(1);
  });

  test("before the first text is counted, and the message kept without a reply", async () => {
    const companion = await server.createCompanion();
    const leaving = new AbortController();
    const pending = sendChat(server.url, companion.embedToken, { message: "[[hang]]" }, { signal: leaving.signal });
    await server.mockLlm.until(() => server.mockLlm.openRequests === 1);
    leaving.abort();
    await pending.catch(() => {});
    await server.mockLlm.until(() => server.mockLlm.openRequests === 0);
    await server.services.openTurns.whenEnded();
    expect(await keptMessages(server, companion)).toMatchObject([{ role: "user", text: "[[hang]]" }]);
    expect(await server.services.store.turns.countDay(companion.id, today())).toBe(1);
  });
});

describe("the turns of one conversation", () => {
  test("run in order, and the fourth waiting one is refused", async () => {
    const companion = await server.createCompanion();
    const body = { session_id: session, visitor_id: visitor };
    const release = Promise.withResolvers<void>();
    const order: string[] = [];
    server.mockLlm.respond(async (request, response) => {
      order.push(request.userText);
      await release.promise;
      await response.write(
        `data: {"choices":[{"delta":{"content":"re ${request.userText}"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`,
      );
      response.end();
    });
    const responses = [];
    for (const message of ["1", "2", "3", "4"]) {
      responses.push(chat(server.url, companion.embedToken, { ...body, message }));
      if (message === "1") await server.mockLlm.until(() => server.mockLlm.openRequests === 1);
      else await queued(Number(message) - 1);
    }
    const refused = await chat(server.url, companion.embedToken, { ...body, message: "5" });
    expect(refused.status).toBe(429);
    expect(JSON.parse(refused.raw).code).toBe("rate_limited");
    expect(refused.headers.get("retry-after")).toBe("1");
    release.resolve();
    expect((await Promise.all(responses)).map((response) => response.text)).toEqual(["re 1", "re 2", "re 3", "re 4"]);
    expect(order).toEqual(["1", "2", "3", "4"]);
    server.mockLlm.respond(null);
    expect(await server.services.store.turns.countDay(companion.id, today())).toBe(4);
  });

  async function queued(count: number): Promise<void> {
    await eventually(() => server.services.coordination.turns.waitingCount >= count, { everyMs: 0 });
  }
});

describe("a token", () => {
  test("of another shape, unknown or revoked is 404, without any difference", async () => {
    const companion = await server.createCompanion();
    const bodies: Problem[] = [];
    const [tokens] = [await server.services.store.embedTokens.list(companion.accountId, companion.id)];
    await server.services.store.embedTokens.revoke(
      companion.accountId,
      companion.id,
      tokens?.[0]?.id ?? "",
      testContext(),
    );
    for (const token of ["x", "emb_short", `emb_${"a".repeat(32)}`, "emb_%00", companion.embedToken]) {
      const response = await sendChat(server.url, token, { message: "a" });
      expect(response.status).toBe(404);
      bodies.push({ ...(await readProblem(response)), request_id: "" });
    }
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
  });
});
