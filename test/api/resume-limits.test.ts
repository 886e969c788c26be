/** Named messages: what is refused, who may come back, and who may stop a reply. */
import { afterAll, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { endMs } from "../../src/core/turns/kept-reply.ts";
import { maxKeptBytes } from "../../src/core/turns/kept-text.ts";
import { makeEmbedToken } from "../../src/domain/credentials.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { readProblem, sendChat } from "../support/chat.ts";
import { eventually } from "../support/eventually.ts";
import { chunk } from "../support/mock-llm-replies.ts";
import { chatRequest, connectRaw } from "../support/raw-visitor.ts";
import { cancel, follow, newMessage, readAll, readUntil, sayOnCommand } from "../support/resumed-chat.ts";
import { keptMessages } from "../support/turn-messages.ts";
import { createVirtualTime } from "../support/virtual-time.ts";

const time = createVirtualTime();
let server: TestServer;
let token: string;
let companion: { id: string; accountId: string; embedToken: string };
beforeAll(async () => {
  server = await startTestServer({ after: time.after, environment: { COMPANIOND_TRUST_PROXY: "1" } });
});
beforeEach(async () => {
  server.mockLlm.respond(null);
  server.mockLlm.requests.length = 0;
  companion = await server.createCompanion();
  token = companion.embedToken;
});
afterAll(() => server.close());

const session = "0b6c1de2-7f0a-4c59-9c3e-3c6f3f0e8a11";
const visitor = "9a0e7a34-54c8-4f0e-8f6d-0a1b2c3d4e5f";
const today = () => new Date().toISOString().slice(0, 10);
const countToday = () => server.services.store.turns.countDay(companion.id, today());
const kept = () => keptMessages(server, companion);
const nothingRuns = () => eventually(() => server.services.openTurns.size === 0);

/** A reply that has said `said` and waits for more. */
async function beginReply(said = "so far", fields: Parameters<typeof newMessage>[0] = {}) {
  const provider = sayOnCommand(server, [said, " and on"]);
  const message = newMessage(fields);
  const asked = sendChat(server.url, token, message);
  provider.say(1);
  return { provider, message, response: await asked };
}

async function paramsAtFault(response: Response): Promise<string[]> {
  expect(response.status).toBe(400);
  const problem = (await readProblem(response)) as unknown as { errors: { param: string }[] };
  return problem.errors.map(({ param }) => param);
}

describe("a message's name", () => {
  test.each([
    ["message_id", { resume: true }],
    ["message_id", { resume: true, message_id: null, session_id: session }],
    ["session_id", { message_id: visitor }],
    ["message_id", { message_id: "not-a-uuid", session_id: session }],
    ["resume", { message_id: visitor, session_id: session, resume: "yes" }],
    ["message,visitor_id,message_id", { message: " ", visitor_id: 7, resume: true }],
    ["session_id", { message_id: visitor, session_id: "malformed" }],
    ["resume", { resume: 1 }],
  ])("is refused with %s at fault in %j", async (params, fields) => {
    const refused = await sendChat(server.url, token, { message: "hello", ...fields });
    expect((await paramsAtFault(refused)).join()).toBe(params);
  });

  test("belongs to one message, running or stored: another one is 409", async () => {
    const { provider, message, response } = await beginReply();
    const other = { ...message, message: "something else" };
    const refused = await sendChat(server.url, token, other);
    expect(await readProblem(refused)).toMatchObject({ status: 409, code: "conflict" });
    expect(refused.headers.get("x-session-id")).toBe(message.session_id);
    provider.say();
    await response.text();
    expect((await sendChat(server.url, token, other)).status).toBe(409);
    expect(await kept()).toHaveLength(2);
  });

  test("takes no place of the queue and none of the address when it is repeated", async () => {
    const { provider, message, response } = await beginReply();
    const repeated = await Promise.all(Array.from({ length: 6 }, () => sendChat(server.url, token, message)));
    expect(repeated.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect([server.services.coordination.turns.waitingCount, server.mockLlm.requests.length]).toEqual([0, 1]);
    provider.say();
    for (const each of [response, ...repeated]) expect((await readAll(each)).text).toBe("so far and on");
    expect(await countToday()).toBe(1);
  });

  test("that another server has not quite given back yet runs as soon as it is gone there", async () => {
    const { coordination, instances } = server.services;
    using looks = spyOn(coordination.turns, "findElsewhere");
    using passed = spyOn(instances, "pass");
    looks.mockResolvedValue({ url: "http://other.invalid" });
    passed.mockResolvedValue(null);
    const message = newMessage();
    const asked = sendChat(server.url, token, message);
    await eventually(() => looks.mock.calls.length > 1);
    looks.mockResolvedValue(null);
    expect((await readAll(await asked)).isDone).toBe(true);
    expect(await kept()).toHaveLength(2);
  });

  test("is followed by sixteen readers, and a seventeenth is 429", async () => {
    const { provider, message, response } = await beginReply();
    const followers = await Promise.all(Array.from({ length: 15 }, () => follow(server.url, token, message)));
    const refused = await follow(server.url, token, message);
    expect(await readProblem(refused)).toMatchObject({ status: 429, code: "rate_limited" });
    expect(refused.headers.get("retry-after")).toBe("1");
    provider.say();
    for (const each of [response, ...followers]) expect((await readAll(each)).text).toBe("so far and on");
  });
});

describe("coming back", () => {
  test("is 404 for other visitors, sessions, companions and names, and for malformed ids, running or stored", async () => {
    const { provider, message, response } = await beginReply("so far", { visitor_id: visitor });
    const { embedToken } = await server.createCompanion();
    const strangers = [
      [token, { ...message, visitor_id: crypto.randomUUID() }],
      [token, { ...message, visitor_id: "malformed" }],
      [token, { ...message, session_id: crypto.randomUUID() }],
      [token, { ...message, session_id: "malformed" }],
      [token, { ...message, session_id: "" }],
      [token, { ...message, message_id: crypto.randomUUID() }],
      [token, { ...message, message_id: "malformed" }],
      [embedToken, message],
    ] as const;
    const { visitor_id: _, ...withoutVisitor } = message;
    const check = async () => {
      for (const [ofToken, name] of [...strangers, [token, withoutVisitor] as const]) {
        expect((await follow(server.url, ofToken, name)).status).toBe(404);
        expect((await cancel(server.url, ofToken, name)).status).toBe(404);
      }
    };
    await check();
    provider.say();
    expect((await readAll(response)).text).toBe("so far and on");
    await check();
    const upper = { ...message, session_id: message.session_id.toUpperCase(), visitor_id: visitor.toUpperCase() };
    expect((await follow(server.url, token, upper, 13)).status).toBe(204);
  });

  test("is 400 past the end, within a character, and with what is no offset", async () => {
    const { provider, message, response } = await beginReply("a😀b");
    const check = async (most: number) => {
      for (const offset of [2, most + 1, -1, 0.5]) {
        expect(await paramsAtFault(await follow(server.url, token, message, offset))).toEqual(["offset"]);
      }
      const init = { headers: { "last-event-id": "two" } };
      expect(await paramsAtFault(await follow(server.url, token, message, 0, init))).toEqual(["Last-Event-ID"]);
    };
    await check(4);
    provider.say();
    expect((await readAll(response)).isDone).toBe(true);
    await check(11);
  });

  test("goes by Last-Event-ID, which wins over the offset", async () => {
    const { provider, message, response } = await beginReply("a😀b");
    provider.say();
    await response.text();
    const init = { headers: { "last-event-id": "3" } };
    expect(await readAll(await follow(server.url, token, message, 1, init))).toMatchObject({ text: "b and on" });
    const all = await follow(server.url, token, message, 2, { headers: { "last-event-id": "11" } });
    expect([all.status, all.headers.get("cache-control")]).toEqual([204, "no-store"]);
    // As clients send it that have had no event yet.
    expect((await follow(server.url, token, message, 11, { headers: { "last-event-id": "" } })).status).toBe(204);
  });

  test("is answered to HEAD without a stream", async () => {
    const { provider, message, response } = await beginReply();
    const head = await follow(server.url, token, message, 0, { method: "HEAD" });
    expect([head.status, head.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    provider.say();
    expect((await readAll(response)).isDone).toBe(true);
  });

  test("passes the guards of every embed route", async () => {
    const { embedToken } = await server.createCompanion({ allowedOrigins: ["https://shop.example"] });
    const message = newMessage();
    for (const call of [follow(server.url, embedToken, message), cancel(server.url, embedToken, message)]) {
      const refused = await call;
      expect(refused.status).toBe(403);
      expect(refused.headers.get("ratelimit")).toContain('"ip"');
    }
  });

  test("is answered from the store for ten minutes by GET, and for ever by POST", async () => {
    const message = newMessage({ message: "[[say:Hello]]" });
    await (await sendChat(server.url, token, message)).text();
    const { clock } = server.services;
    const nowMs = clock.nowMs;
    clock.nowMs = () => nowMs() + 10 * 60_000 + 1_000;
    try {
      expect((await follow(server.url, token, message)).status).toBe(404);
      expect((await cancel(server.url, token, message)).status).toBe(204);
      expect(await readAll(await sendChat(server.url, token, message))).toMatchObject({ text: "Hello", isDone: true });
    } finally {
      clock.nowMs = nowMs;
    }
  });
});

describe("stopping a reply", () => {
  test("ends the provider's request and every stream, keeps what came, and is told to who comes later", async () => {
    const { message, response } = await beginReply();
    const follower = await follow(server.url, token, message, 3);
    expect((await cancel(server.url, token, message)).status).toBe(204);
    await server.mockLlm.until(() => server.mockLlm.openRequests === 0);
    expect(await readAll(response)).toMatchObject({ text: "so far", isDone: false, comments: ["error cancelled"] });
    expect(await readAll(follower)).toMatchObject({
      text: "far",
      isDone: false,
      comments: ["ping", "error cancelled"],
    });
    expect(await kept()).toMatchObject([{ role: "user" }, { text: "so far", complete: false }]);
    expect((await cancel(server.url, token, message)).status).toBe(204);
    const later = await readAll(await follow(server.url, token, message));
    expect(later).toMatchObject({ text: "so far", isDone: false, comments: ["ping", "error cancelled"] });
    expect(server.mockLlm.requests).toHaveLength(1);
  });

  test("is answered in time though the store is slow, and again once what came is kept", async () => {
    const { message, response } = await beginReply();
    const { turns } = server.services.store;
    const { settle } = turns;
    const stored = Promise.withResolvers<void>();
    turns.settle = async (turn) => {
      await stored.promise;
      return await settle.call(turns, turn);
    };
    const stopped = cancel(server.url, token, message);
    await server.mockLlm.until(() => server.mockLlm.openRequests === 0);
    await time.pass(endMs);
    const answer = await stopped;
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    turns.settle = settle;
    stored.resolve();
    expect((await cancel(server.url, token, message)).status).toBe(204);
    expect((await readAll(response)).comments).toEqual(["error cancelled"]);
    expect((await kept()).at(-1)).toMatchObject({ text: "so far", complete: false });
  });

  test("before the first text is 409 for the request, and for the same one later", async () => {
    const message = newMessage({ message: "[[hang]]" });
    const asked = sendChat(server.url, token, message);
    await server.mockLlm.until(() => server.mockLlm.openRequests === 1);
    expect((await cancel(server.url, token, message)).status).toBe(204);
    expect(await readProblem(await asked)).toMatchObject({ status: 409, code: "conflict" });
    await server.mockLlm.until(() => server.mockLlm.openRequests === 0);
    expect(await kept()).toMatchObject([{ role: "user", text: "[[hang]]" }]);
    expect((await sendChat(server.url, token, message)).status).toBe(409);
    expect(server.mockLlm.requests).toHaveLength(1);
  });

  test("that waits for its turn drops and forgets it", async () => {
    const first = await beginReply();
    const message = newMessage({ session_id: first.message.session_id });
    const waiting = sendChat(server.url, token, message);
    await eventually(() => server.services.coordination.turns.waitingCount === 1);
    expect((await cancel(server.url, token, message)).status).toBe(204);
    expect((await waiting).status).toBe(409);
    expect(server.services.coordination.turns.waitingCount).toBe(0);
    expect((await follow(server.url, token, message)).status).toBe(404);
    first.provider.say();
    expect((await readAll(first.response)).isDone).toBe(true);
    expect(await countToday()).toBe(1);
    server.mockLlm.respond(null);
    expect((await readAll(await sendChat(server.url, token, message))).text).toBe("You said: hello");
    expect(await kept()).toHaveLength(4);
  });
});

describe("a resumable reply", () => {
  test("is abandoned after two minutes without a reader, and what came is kept", async () => {
    const { message, response } = await beginReply();
    await readUntil(response, ({ text }) => text === "so far");
    const { replies } = server.services;
    const reply = () =>
      replies.find({ queueKey: `${companion.id} ${message.session_id} null`, messageId: message.message_id });
    await eventually(() => reply()?.isUnread === true);
    await time.pass(119_000);
    const back = await follow(server.url, token, message);
    await readUntil(back, ({ text }) => text === "so far");
    await eventually(() => reply()?.isUnread === true);
    await time.pass(119_000);
    expect(server.mockLlm.openRequests).toBe(1);
    const before = replies.abandonedCount;
    await time.pass(1_000);
    await server.mockLlm.until(() => server.mockLlm.openRequests === 0);
    await nothingRuns();
    expect(replies.abandonedCount).toBe(before + 1);
    expect((await kept()).at(-1)).toMatchObject({ text: "so far", complete: false });
    const later = await readAll(await follow(server.url, token, message));
    expect(later).toMatchObject({ text: "so far", isDone: false, comments: ["ping", "error abandoned"] });
  });

  test("is abandoned a hundred times over, and each is stored and counted once", async () => {
    server.mockLlm.respond(async (_, response) => {
      await response.write(chunk({ content: "so far" }));
      await response.closed;
    });
    const visitors = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const visitor = await connectRaw(server.url);
        visitor.write(chatRequest(token, newMessage()));
        await visitor.until((received) => received.includes("so far"));
        return visitor;
      }),
    );
    for (const visitor of visitors) visitor.vanish();
    const { replies, measurements, store } = server.services;
    await eventually(() => measurements.openStreams === 0);
    expect([replies.count, replies.heldBytes < 200_000]).toEqual([100, true]);
    await time.pass(120_000);
    await nothingRuns();
    await server.mockLlm.until(() => server.mockLlm.openRequests === 0);
    expect([replies.count, replies.heldBytes, await countToday()]).toEqual([0, 0, 100]);
    const day = { fromDay: today(), toDay: today(), groupBy: ["companion" as const], metadata: [] };
    const [usage] = await store.usage.query(companion.accountId, { ...day, companionId: companion.id });
    expect(usage?.messages).toBe(100);
  });

  test("waits for its turn two minutes without a reader, and is forgotten then", async () => {
    const first = await beginReply();
    const message = newMessage({ session_id: first.message.session_id });
    const lost = new AbortController();
    const waiting = sendChat(server.url, token, message, { signal: lost.signal });
    const { coordination, replies } = server.services;
    await eventually(() => coordination.turns.waitingCount === 1);
    lost.abort();
    await expect(waiting).rejects.toThrow();
    const name = { queueKey: `${companion.id} ${message.session_id} null`, messageId: message.message_id };
    await eventually(() => replies.find(name)?.isUnread === true);
    await time.pass(119_000);
    expect(coordination.turns.waitingCount).toBe(1);
    await time.pass(1_000);
    await eventually(() => coordination.turns.waitingCount === 0);
    expect((await follow(server.url, token, message)).status).toBe(404);
    first.provider.say();
    expect((await readAll(first.response)).isDone).toBe(true);
    expect(await countToday()).toBe(1);
  });

  test("ends within a second when its token is revoked, read or not", async () => {
    const { message, response } = await beginReply();
    await readUntil(response, ({ text }) => text === "so far");
    const { embedTokens } = server.services.store;
    const [first] = (await embedTokens.list(companion.accountId, companion.id)) ?? [];
    await embedTokens.revoke(companion.accountId, companion.id, first?.id ?? "", testContext());
    await server.mockLlm.until(() => server.mockLlm.openRequests === 0);
    await nothingRuns();
    expect((await follow(server.url, token, message)).status).toBe(404);
    expect((await kept()).at(-1)).toMatchObject({ text: "so far", complete: false });
  });

  test("goes on for others when the token of one of its readers is revoked, whose stream ends within a second", async () => {
    const { provider, message, response } = await beginReply();
    const { embedTokens } = server.services.store;
    const other = makeEmbedToken(systemIds.secret);
    const id = crypto.randomUUID();
    await embedTokens.create(companion.accountId, companion.id, { id, token: other, name: null }, testContext());
    const follower = await follow(server.url, other, message);
    const attached = await sendChat(server.url, other, message);
    await embedTokens.revoke(companion.accountId, companion.id, id, testContext());
    expect(await readAll(follower)).toMatchObject({ text: "so far", comments: ["ping", "error unavailable"] });
    expect(await readAll(attached)).toMatchObject({ text: "so far", comments: ["error unavailable"] });
    provider.say();
    expect(await readAll(response)).toMatchObject({ text: "so far and on", isDone: true });
  });

  test("ends incomplete at one MiB, without half a character", async () => {
    const provider = sayOnCommand(server, [`x${"😀".repeat(maxKeptBytes / 8)}`, "😀".repeat(maxKeptBytes / 8)]);
    provider.say();
    const message = newMessage();
    const read = await readAll(await sendChat(server.url, token, message));
    expect(read).toMatchObject({ isDone: false, comments: ["error too_long"] });
    expect(Buffer.byteLength(read.text)).toBe(maxKeptBytes - 3);
    expect((await kept()).at(-1)?.text === read.text).toBe(true);
    const again = await readAll(await follow(server.url, token, message, read.text.length - 2));
    expect(again).toMatchObject({ text: "😀", isDone: false, comments: ["ping", "error too_long"] });
  });

  test("that nobody reads takes a place of its address", async () => {
    const small = await startTestServer({ environment: { COMPANIOND_STREAMS_PER_IP: "1" } });
    try {
      const { embedToken } = await small.createCompanion();
      const provider = sayOnCommand(small, ["so far", " and on"]);
      const message = newMessage();
      const asked = sendChat(small.url, embedToken, message);
      provider.say(1);
      await readUntil(await asked, ({ text }) => text === "so far");
      expect((await sendChat(small.url, embedToken, { message: "another" })).status).toBe(429);
      const back = await follow(small.url, embedToken, message);
      provider.say();
      expect((await readAll(back)).isDone).toBe(true);
      await eventually(() => small.services.openTurns.size === 0);
      small.mockLlm.respond(null);
      expect((await sendChat(small.url, embedToken, { message: "another" })).status).toBe(200);
    } finally {
      await small.close();
    }
  });
});
