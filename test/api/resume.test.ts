/** Replies that survive their stream: a lost client comes back, and has each character once. */
import { afterAll, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { readProblem, sendChat } from "../support/chat.ts";
import { eventually } from "../support/eventually.ts";
import { chunk, doneMark } from "../support/mock-llm-replies.ts";
import { chatRequest, connectRaw } from "../support/raw-visitor.ts";
import { follow, newMessage, parseStream, readAll, readUntil, sayOnCommand } from "../support/resumed-chat.ts";
import { keptMessages } from "../support/turn-messages.ts";

let server: TestServer;
let token: string;
let companion: { id: string; accountId: string };
beforeAll(async () => {
  server = await startTestServer();
});
beforeEach(async () => {
  server.mockLlm.respond(null);
  server.mockLlm.requests.length = 0;
  companion = await server.createCompanion();
  ({ embedToken: token } = companion as { embedToken: string } & typeof companion);
});
afterAll(() => server.close());

const today = () => new Date().toISOString().slice(0, 10);
const countToday = () => server.services.store.turns.countDay(companion.id, today());
const kept = () => keptMessages(server, companion);
const nothingRuns = () => eventually(() => server.services.openTurns.size === 0);
const deltas = ["Grüße ", "😀", "an ", "👩‍👩‍👧", " alle"];
const whole = deltas.join("");

describe("a reply that its visitor lost", () => {
  test("is whole, character by character, wherever it was cut", async () => {
    for (let cut = 1; cut < deltas.length; cut++) {
      const provider = sayOnCommand(server, deltas);
      const message = newMessage();
      const asked = sendChat(server.url, token, message);
      provider.say(cut);
      const had = deltas.slice(0, cut).join("");
      const first = await readUntil(await asked, ({ text }) => text.length >= had.length);
      expect(first.text).toBe(had);
      const rest = await follow(server.url, token, message, first.text.length);
      expect(rest.status).toBe(200);
      expect(rest.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
      expect(rest.headers.get("cache-control")).toBe("no-store");
      provider.say();
      const read = await readAll(rest);
      expect(first.text + read.text).toBe(whole);
      expect(read.isDone).toBe(true);
      expect(read.ids.at(-1)).toBe(String(whole.length));
    }
    expect(await countToday()).toBe(deltas.length - 1);
    expect((await kept()).filter(({ role }) => role === "assistant").map(({ text }) => text)).toEqual(
      Array(deltas.length - 1).fill(whole),
    );
  });

  test("begins at once for who comes back, before its first text, and says the offset after each event", async () => {
    const provider = sayOnCommand(server, ["a", "😀", "b"]);
    const message = newMessage();
    const lost = new AbortController();
    const asked = sendChat(server.url, token, message, { signal: lost.signal });
    await server.mockLlm.until(() => server.mockLlm.requests.length === 1);
    lost.abort();
    await expect(asked).rejects.toThrow();
    const again = await follow(server.url, token, message);
    const reader = (again.body as ReadableStream<Uint8Array>).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(": ping\n\n");
    let raw = "";
    const all = (async () => {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        raw += new TextDecoder().decode(next.value);
      }
    })();
    for (const had of ["1", "3", "4"]) {
      provider.say(1);
      await eventually(() => parseStream(raw).ids.at(-1) === had);
    }
    await all;
    expect(raw).toBe(
      'id: 1\ndata: {"text":"a"}\n\nid: 3\ndata: {"text":"😀"}\n\nid: 4\ndata: {"text":"b"}\n\nid: 4\ndata: [DONE]\n\n',
    );
    expect(server.mockLlm.requests).toHaveLength(1);
  });

  test("runs once, however often it is sent, also where the first head never arrived", async () => {
    const provider = sayOnCommand(server, deltas);
    const message = newMessage();
    const lost = await connectRaw(server.url);
    lost.write(chatRequest(token, message));
    await server.mockLlm.until(() => server.mockLlm.requests.length === 1);
    lost.vanish();
    const repeated = [
      message,
      { ...message, resume: false },
      { ...message, message_id: message.message_id.toUpperCase() },
    ];
    const asked = repeated.map((each) => sendChat(server.url, token, each));
    await eventually(() => server.services.replies.resumedCount >= 3);
    provider.say();
    for (const response of await Promise.all(asked)) {
      expect(response.headers.get("x-session-id")).toBe(message.session_id);
      const read = await readAll(response);
      expect(read).toMatchObject({ text: whole, isDone: true });
      // Only who comes back with GET gets ids.
      expect(read.ids.every((id) => id === undefined)).toBe(true);
    }
    expect(server.mockLlm.requests).toHaveLength(1);
    expect(await countToday()).toBe(1);
    expect(await kept()).toHaveLength(2);
  });

  test("is answered from the store once it is settled, to POST and GET alike", async () => {
    const message = newMessage({ message: "[[say:Hello you]]", resume: false });
    const first = await (await sendChat(server.url, token, message)).text();
    expect(await (await sendChat(server.url, token, message)).text()).toBe(
      'data: {"text":"Hello you"}\n\ndata: [DONE]\n\n',
    );
    expect((await follow(server.url, token, message, 9)).status).toBe(204);
    const rest = await readAll(await follow(server.url, token, message, 6));
    expect(rest).toMatchObject({ text: "you", isDone: true, ids: ["9", "9"], comments: ["ping"] });
    expect(first).toBe('data: {"text":"Hello "}\n\ndata: {"text":"you"}\n\ndata: [DONE]\n\n');
    const atOnce = await Promise.all(Array.from({ length: 12 }, () => sendChat(server.url, token, message)));
    expect(atOnce.map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect(server.mockLlm.requests).toHaveLength(1);
    expect(await countToday()).toBe(1);
  });

  test("is not run again if another server settled it before its turn, and gives the day's message back", async () => {
    const message = newMessage({ message: "[[say:Hello]]" });
    await (await sendChat(server.url, token, message)).text();
    const { turns } = server.services.store;
    const { findExchange } = turns;
    let looks = 0;
    const isFollowed = Promise.withResolvers<void>();
    // As if the other one had settled it between the first look and the ticket.
    turns.findExchange = async (...name) => {
      if (looks++ === 0) return null;
      await isFollowed.promise;
      return findExchange(...name);
    };
    try {
      const asked = sendChat(server.url, token, message);
      await eventually(() => looks === 2);
      const following = await follow(server.url, token, message);
      isFollowed.resolve();
      expect(await readAll(await asked)).toMatchObject({ text: "Hello", isDone: true });
      // It has not ended, so nothing says so: whoever reads it comes back.
      expect(await readAll(following)).toMatchObject({ text: "", isDone: false, comments: ["ping"] });
    } finally {
      turns.findExchange = findExchange;
    }
    expect(looks).toBe(3);
    expect(server.mockLlm.requests).toHaveLength(1);
    expect(await countToday()).toBe(1);
    await nothingRuns();
    expect(server.services.replies.count).toBe(0);
  });

  test("is not stored if its visitor is erased after it arrived, while it is looked for", async () => {
    const { turns, conversations } = server.services.store;
    const { findExchange } = turns;
    const message = newMessage({ visitor_id: crypto.randomUUID() });
    turns.findExchange = async (...name) => {
      turns.findExchange = findExchange;
      const erased = [message.visitor_id ?? ""];
      await conversations.eraseVisitors(companion.accountId, companion.id, erased, testContext());
      return await findExchange(...name);
    };
    expect(await readAll(await sendChat(server.url, token, message))).toMatchObject({ isDone: true });
    expect(await kept()).toEqual([]);
    expect((await follow(server.url, token, message)).status).toBe(404);
  });

  test("tells who comes back why the provider broke it off, while it runs and afterwards", async () => {
    const message = newMessage({ message: "[[error:3]][[delay:30]]one two three four" });
    const first = await readUntil(await sendChat(server.url, token, message), ({ text }) => text.length > 0);
    const rest = await readAll(await follow(server.url, token, message, first.text.length));
    expect(rest).toMatchObject({ isDone: false, comments: ["ping", "error upstream_error"] });
    await nothingRuns();
    const [, reply] = await kept();
    expect(reply).toMatchObject({ text: first.text + rest.text, complete: false });
    const read = await readAll(await sendChat(server.url, token, message));
    expect(read).toMatchObject({ text: reply?.text ?? "", isDone: false, comments: ["error upstream_error"] });
    const end = await follow(server.url, token, message, read.text.length);
    expect(end.status).toBe(200);
    expect(await readAll(end)).toMatchObject({ text: "", isDone: false, comments: ["ping", "error upstream_error"] });
  });

  test("has a half of a character replaced that its provider never completes, in the stream and in the store", async () => {
    const escaped = (text: string) => `data: {"choices":[{"delta":{"content":"${text}"},"finish_reason":null}]}\n\n`;
    server.mockLlm.respond(async (_, response) => {
      for (const text of ["a\\ud83d", "\\ude00b", "\\ud83d", "c\\ud83d"]) await response.write(escaped(text));
      await response.write(chunk({ finishReason: "stop" }) + doneMark);
      response.end();
    });
    const message = newMessage();
    const read = await readAll(await sendChat(server.url, token, message));
    expect(read).toMatchObject({ text: "a😀b\ufffdc\ufffd", isDone: true });
    expect((await kept()).at(-1)?.text).toBe(read.text);
    expect((await follow(server.url, token, message, 7)).status).toBe(204);
    // A client that uses none of this gets what it always got.
    expect((await readAll(await sendChat(server.url, token, { message: "hello" }))).text).toBe("a😀b\ufffdc");
  });

  test("reaches a reader at full pace while another one stalls", async () => {
    // Six bytes each on the wire: more than the sockets in between hold.
    const text = "\u0001".repeat(60_000);
    const provider = sayOnCommand(server, Array(16).fill(text));
    const message = newMessage();
    const stalled = await connectRaw(server.url);
    stalled.write(chatRequest(token, message));
    stalled.pause();
    await server.mockLlm.until(() => server.mockLlm.requests.length === 1);
    const { resumedCount } = server.services.replies;
    const quick = sendChat(server.url, token, message);
    await eventually(() => server.services.replies.resumedCount > resumedCount);
    provider.say();
    const read = await readAll(await quick);
    expect([read.isDone, read.text === text.repeat(16)]).toEqual([true, true]);
    expect(server.services.replies.count).toBe(1);
    stalled.resume();
    const received = await stalled.until((raw) => raw.includes("[DONE]"));
    // Without what HTTP's chunked coding puts in between.
    const events = received.replaceAll(/\r\n[0-9a-f]+\r\n/g, "");
    expect(events.match(/\\u0001/g)).toHaveLength(16 * text.length);
    stalled.vanish();
    await eventually(() => server.services.replies.heldBytes === 0);
  });
});

describe("a reply that nobody reads", () => {
  test("ends at once without resume, and what came is kept and answered as abandoned", async () => {
    const provider = sayOnCommand(server, ["so ", "far", " more"]);
    const message = newMessage({ resume: false });
    const asked = sendChat(server.url, token, message);
    provider.say(2);
    await readUntil(await asked, ({ text }) => text === "so far");
    await server.mockLlm.until(() => server.mockLlm.openRequests === 0);
    await nothingRuns();
    expect(await kept()).toMatchObject([{ role: "user" }, { text: "so far", complete: false }]);
    const read = await readAll(await sendChat(server.url, token, message));
    expect(read).toMatchObject({ text: "so far", isDone: false, comments: ["error abandoned"] });
  });

  test("goes on if one of its readers came with resume", async () => {
    const provider = sayOnCommand(server, ["so ", "far"]);
    const message = newMessage({ resume: false });
    const asked = sendChat(server.url, token, message);
    provider.say(1);
    const first = await asked;
    const second = await sendChat(server.url, token, { ...message, resume: true });
    await readUntil(first, ({ text }) => text === "so ");
    await readUntil(second, ({ text }) => text === "so ");
    provider.say();
    await nothingRuns();
    expect((await kept()).at(-1)).toMatchObject({ text: "so far", complete: true });
  });

  test("runs anew under the same name if its visitor left before the first text, and is counted once", async () => {
    server.mockLlm.respond((request, response) => (request.index === 0 ? response.closed : undefined));
    const message = newMessage({ resume: false });
    const lost = new AbortController();
    const asked = sendChat(server.url, token, message, { signal: lost.signal });
    await server.mockLlm.until(() => server.mockLlm.openRequests === 1);
    lost.abort();
    await expect(asked).rejects.toThrow();
    await nothingRuns();
    expect(await kept()).toMatchObject([{ role: "user", text: "hello" }]);
    expect(await countToday()).toBe(1);
    expect(await readAll(await follow(server.url, token, message))).toMatchObject({
      comments: ["ping", "error abandoned"],
    });

    expect((await sendChat(server.url, token, { ...message, message: "something else" })).status).toBe(409);
    server.mockLlm.respond(null);
    expect(await readAll(await sendChat(server.url, token, message))).toMatchObject({
      text: "You said: hello",
      isDone: true,
    });
    expect(server.mockLlm.requests.at(-1)?.body.messages).toEqual([{ role: "user", content: "hello" }]);
    expect(await countToday()).toBe(1);
    expect(await kept()).toMatchObject([
      { role: "user", text: "hello" },
      { role: "assistant", complete: true },
    ]);
  });

  test("runs anew also for who asks while its end is still being stored", async () => {
    server.mockLlm.respond((_, response) => response.closed);
    const { replies, store } = server.services;
    const { settle } = store.turns;
    const stored = Promise.withResolvers<void>();
    using settling = spyOn(store.turns, "settle").mockImplementationOnce(async (turn) => {
      await stored.promise;
      return await settle(turn);
    });
    const message = newMessage({ resume: false });
    const lost = new AbortController();
    const asked = sendChat(server.url, token, message, { signal: lost.signal });
    await server.mockLlm.until(() => server.mockLlm.openRequests === 1);
    lost.abort();
    await expect(asked).rejects.toThrow();
    await eventually(() => settling.mock.calls.length === 1);
    server.mockLlm.respond(null);
    using looks = spyOn(replies, "find");
    const again = sendChat(server.url, token, message);
    await eventually(() => looks.mock.calls.length > 0);
    stored.resolve();
    expect(await readAll(await again)).toMatchObject({ text: "You said: hello", isDone: true });
    expect(await countToday()).toBe(1);
  });

  test("is forgotten if it failed before its first text: the same request runs it anew", async () => {
    const message = newMessage({ message: "[[fail:400]][[times:1]]hello" });
    expect((await sendChat(server.url, token, message)).status).toBe(502);
    expect((await follow(server.url, token, message)).status).toBe(404);
    expect(await readAll(await sendChat(server.url, token, message))).toMatchObject({ isDone: true });
    expect(await countToday()).toBe(1);
  });

  test("answers all who wait for it with the same 502", async () => {
    server.mockLlm.respond(async (_, response) => {
      await eventually(() => server.services.replies.resumedCount > resumed);
      response.send(400, {}, "{}");
    });
    const resumed = server.services.replies.resumedCount;
    const message = newMessage();
    const one = sendChat(server.url, token, message);
    const two = sendChat(server.url, token, message);
    for (const response of [await one, await two]) {
      expect(await readProblem(response)).toMatchObject({ status: 502, code: "upstream_error" });
    }
    expect(server.mockLlm.requests).toHaveLength(1);
  });
});
