/** Two servers on one PostgreSQL: a reply that runs at one of them is resumed, repeated and stopped at the other. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../support/app.ts";
import { readProblem, sendChat } from "../support/chat.ts";
import { dropEngineDatabase, engineEnvironment, isOnPostgres } from "../support/engine.ts";
import { eventually } from "../support/eventually.ts";
import { indexText } from "../support/index-text.ts";
import { readLines } from "../support/line-process.ts";
import { cancel, follow, newMessage, readAll, readUntil, sayOnCommand } from "../support/resumed-chat.ts";
import { startTamperingProxy } from "../support/tampering-proxy.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { keptMessages } from "../support/turn-messages.ts";
import { createWebsiteKey, signToken } from "../support/visitor-keys.ts";

// One process has nobody to pass anything on to.
if (isOnPostgres) {
  const directory = temporaryDirectory();
  const dataDir = directory.path;
  let here: TestServer;
  let there: TestServer;
  let token: string;
  let account: Awaited<ReturnType<TestServer["createAccount"]>>;
  let companion: Awaited<ReturnType<TestServer["createCompanion"]>>;

  beforeAll(async () => {
    here = await startTestServer({ dataDir, isShared: true });
    there = await startTestServer({ dataDir, isShared: true });
  });
  beforeEach(async () => {
    for (const { mockLlm } of [here, there]) {
      mockLlm.respond(null);
      mockLlm.requests.length = 0;
    }
    account = await here.createAccount({ email: `${crypto.randomUUID()}@shop.example` });
    companion = await here.createCompanion({}, account);
    token = companion.embedToken;
  });
  afterEach(() => eventually(() => [here, there].every(({ services }) => services.openTurns.size === 0)));
  afterAll(async () => {
    await there.close();
    await here.close();
    await dropEngineDatabase(dataDir);
    directory[Symbol.dispose]();
  });

  const deltas = ["Grüße ", "😀", "an ", "👩‍👩‍👧", " alle"];
  const whole = deltas.join("");
  const calls = () => here.mockLlm.requests.length + there.mockLlm.requests.length;
  const kept = async () =>
    (await keptMessages(here, companion)).map(({ role, text, complete }) => [role, text, complete]);
  const wholeExchange = [
    ["user", "hello", true],
    ["assistant", whole, true],
  ];

  test("who comes back at the other server has each character once, and the ids to come back again", async () => {
    for (let cut = 1; cut < deltas.length; cut++) {
      const provider = sayOnCommand(there, deltas);
      const message = newMessage();
      const asked = sendChat(there.url, token, message);
      provider.say(cut);
      const had = deltas.slice(0, cut).join("");
      const first = await readUntil(await asked, ({ text }) => text.length >= had.length);
      const rest = await follow(here.url, token, message, first.text.length);
      expect(rest.status).toBe(200);
      expect(rest.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
      provider.say();
      const read = await readAll(rest);
      expect([first.text + read.text, read.isDone, read.ids.at(-1)]).toEqual([whole, true, String(whole.length)]);
      // Its end was settled before it was told.
      expect((await follow(here.url, token, message, whole.length)).status).toBe(204);
    }
    expect(calls()).toBe(deltas.length - 1);
  });

  test("a platform's key follows and stops at one server what it relayed at the other", async () => {
    const { key } = await here.createKey(account);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const provider = sayOnCommand(there, deltas);
    const { visitor_id: _, ...message } = newMessage();
    const sent = { ...message, visitor: { sub: "user-42" }, resume: true };
    const path = `/api/companions/${companion.id}/chat`;
    const asked = fetch(`${there.url}${path}`, { method: "POST", headers, body: JSON.stringify(sent) });
    provider.say(2);
    await readUntil(await asked, ({ text }) => text.length >= 8);
    const named = `${here.url}${path}/${message.message_id}?session_id=${message.session_id}&visitor_sub=user-42`;
    const following = await fetch(`${named}&offset=6`, { headers });
    expect(following.status).toBe(200);
    const stopped = fetch(named, { method: "DELETE", headers });
    const read = await readAll(following);
    expect(deltas.join("").slice(6)).toStartWith(read.text);
    expect([read.isDone, read.comments.at(-1)]).toEqual([false, "error cancelled"]);
    expect((await stopped).status).toBe(204);
    provider.say();
    expect(calls()).toBe(1);
  });

  test("the response begins before the reply does, and is this server's own", async () => {
    const provider = sayOnCommand(there, deltas);
    const message = newMessage();
    const asked = sendChat(there.url, token, message);
    await there.mockLlm.until(() => there.mockLlm.requests.length === 1);
    const headers = { origin: "https://shop.example" };
    const following = await follow(here.url, token, message, 0, { headers });
    expect(following.headers.get("access-control-allow-origin")).toBe("https://shop.example");
    expect(following.headers.get("ratelimit")).not.toBeNull();
    provider.say();
    expect(await readAll(following)).toMatchObject({ text: whole, isDone: true, comments: ["ping"] });
    expect(await readAll(await asked)).toMatchObject({ text: whole, isDone: true });
    const requestId = following.headers.get("x-request-id");
    const logged = () => here.log.events.find(({ fields }) => fields["requestId"] === requestId);
    await eventually(() => logged() !== undefined);
    expect(logged()?.fields).toMatchObject({ status: 200, stream: { outcome: "complete" } });
    expect(there.log.text()).not.toContain(String(requestId));
  });

  test("the sources of a reply are told at the other server as well, while it runs and once it is stored", async () => {
    await indexText(there.services.store, companion, { title: "Hours", passages: ["We open at nine."] });
    const provider = sayOnCommand(there, ["At nine", "[1]."]);
    const message = { ...newMessage({ message: "When do you open?" }), events: true };
    const asked = sendChat(there.url, token, message);
    provider.say(1);
    const first = await asked;
    const { url } = await follow(here.url, token, message, 0, { method: "HEAD" });
    const following = [await fetch(`${url}&events=true`), await fetch(url), await sendChat(here.url, token, message)];
    provider.say();
    const own = await first.text();
    const [told = "", plain = "", again = ""] = await Promise.all(following.map((response) => response.text()));
    const event = 'event: sources\ndata: {"sources":[{"n":1,"title":"Hours","url":null,"page":null}]}\n\n';
    expect(own).toEndWith(`${event}data: [DONE]\n\n`);
    expect(told).toMatch(/\n\nid: (\d+)\nevent: sources\ndata: .*\n\nid: \1\ndata: \[DONE\]\n\n$/);
    expect(told).toContain(event);
    expect(plain).not.toContain("event:");
    expect(again).toEndWith(`${event}data: [DONE]\n\n`);
    expect(await (await fetch(`${url}&events=true`)).text()).toContain(event);
    expect(calls()).toBe(1);
  });

  test("a message that is repeated at the other server gets the same reply, and asks no provider again", async () => {
    const provider = sayOnCommand(there, deltas);
    const message = newMessage();
    const asked = sendChat(there.url, token, message);
    provider.say(2);
    const first = await asked;
    const again = await sendChat(here.url, token, message);
    expect(again.headers.get("x-session-id")).toBe(message.session_id);
    provider.say();
    const reads = [await readAll(first), await readAll(again)];
    for (const read of reads) expect(read).toMatchObject({ text: whole, isDone: true });
    expect(reads[1]?.ids.every((id) => id === undefined)).toBe(true);
    expect(calls()).toBe(1);
    expect(await kept()).toEqual(wholeExchange);
    // And from the store.
    expect(await readAll(await sendChat(here.url, token, message))).toMatchObject({ text: whole, isDone: true });
    expect(calls()).toBe(1);
  });

  test("the same message at both servers at the same moment is asked once", async () => {
    const messages = Array.from({ length: 10 }, () => newMessage({ message: "[[say:One two three]]" }));
    for (const message of messages) {
      const both = await Promise.all([here, there].map(({ url }) => sendChat(url, token, message)));
      for (const response of both) {
        expect(await readAll(response)).toMatchObject({ text: "One two three", isDone: true });
      }
    }
    expect(calls()).toBe(messages.length);
    expect(await kept()).toHaveLength(2 * messages.length);
  });

  test("a reply that is stopped at the other server ends for everyone", async () => {
    const provider = sayOnCommand(there, deltas);
    const message = newMessage();
    const asked = sendChat(there.url, token, message);
    provider.say(2);
    const reading = [await asked, await follow(here.url, token, message), await follow(there.url, token, message)];
    const reads = reading.map((response) => readAll(response));
    expect((await cancel(here.url, token, message)).status).toBe(204);
    for (const read of await Promise.all(reads)) {
      expect(read).toMatchObject({ text: deltas.slice(0, 2).join(""), isDone: false });
      expect(read.comments.at(-1)).toBe("error cancelled");
    }
    expect(await kept()).toContainEqual(["assistant", deltas.slice(0, 2).join(""), false]);
    expect((await cancel(here.url, token, message)).status).toBe(204);
    await eventually(() => there.mockLlm.openRequests === 0);
  });

  test("a stop that meets the repeated message before its place is known stops the reply where it runs", async () => {
    const provider = sayOnCommand(there, deltas);
    const message = newMessage();
    const asked = sendChat(there.url, token, message);
    provider.say(1);
    const first = await asked;
    const { turns } = here.services.coordination;
    const { enter, findElsewhere } = turns;
    const isStopped = Promise.withResolvers<void>();
    let isEntering = false;
    turns.enter = async (...entry) => {
      isEntering = true;
      await isStopped.promise;
      return enter(...entry);
    };
    // As if both had come at the same moment.
    turns.findElsewhere = async () => null;
    const again = sendChat(here.url, token, message);
    await eventually(() => isEntering);
    Object.assign(turns, { enter, findElsewhere });
    const stopping = cancel(here.url, token, message);
    const name = { queueKey: `${companion.id} ${message.session_id} null`, messageId: message.message_id };
    const isTold = eventually(() => here.services.replies.find(name)?.isStopped === true);
    // An answer before that is none that stopped it.
    expect(await Promise.race([isTold, stopping.then(({ status }) => status)])).toBeUndefined();
    isStopped.resolve();
    expect((await stopping).status).toBe(204);
    expect((await again).status).toBe(409);
    expect((await readAll(first)).comments).toEqual(["error cancelled"]);
  });

  test("what the other server refuses is refused here, under this request's id", async () => {
    const provider = sayOnCommand(there, deltas);
    const message = newMessage();
    const asked = sendChat(there.url, token, message);
    provider.say(1);
    const first = await asked;
    const other = await sendChat(here.url, token, { ...message, message: "something else" });
    const requestId = other.headers.get("x-request-id");
    expect(await readProblem(other)).toMatchObject({ status: 409, code: "conflict", request_id: requestId });
    const past = await follow(here.url, token, message, 999);
    expect(await readProblem(past)).toMatchObject({ status: 400, code: "invalid_request" });
    for (const unknown of [{ message_id: crypto.randomUUID() }, { session_id: crypto.randomUUID() }]) {
      expect((await follow(here.url, token, { ...message, ...unknown })).status).toBe(404);
    }
    provider.say();
    await readAll(first);
  });

  test("a provider that fails before the first text is a 502 at both, and the message runs anew at either", async () => {
    const fail = Promise.withResolvers<void>();
    there.mockLlm.respond(async (_, response) => {
      await fail.promise;
      response.send(400, {}, "{}");
    });
    const message = newMessage();
    const asked = sendChat(there.url, token, message);
    await there.mockLlm.until(() => there.mockLlm.requests.length === 1);
    const before = there.services.replies.resumedCount;
    const again = sendChat(here.url, token, message);
    await eventually(() => there.services.replies.resumedCount > before);
    fail.resolve();
    expect((await asked).status).toBe(502);
    expect(await readProblem(await again)).toMatchObject({ status: 502, code: "upstream_error" });
    sayOnCommand(here, deltas).say();
    expect(await readAll(await sendChat(here.url, token, message))).toMatchObject({ text: whole, isDone: true });
    expect(await kept()).toEqual(wholeExchange);
  });

  test("a message that failed runs anew at the other server, though its place is given back a moment later", async () => {
    const gates = { here: here.services.coordination.turns, there: there.services.coordination.turns };
    const { enter } = gates.there;
    const { findElsewhere } = gates.here;
    const looksEnough = Promise.withResolvers<void>();
    gates.there.enter = async (...entry) => {
      const ticket = await enter(...entry);
      return ticket.isAdmitted ? { ...ticket, leave: () => void looksEnough.promise.then(ticket.leave) } : ticket;
    };
    let looks = 0;
    gates.here.findElsewhere = async (...name) => {
      const found = await findElsewhere(...name);
      if (++looks === 4) looksEnough.resolve();
      return found;
    };
    const message = newMessage();
    there.mockLlm.respond((_, response) => response.send(400, {}, "{}"));
    expect((await sendChat(there.url, token, message)).status).toBe(502);
    expect(await readAll(await sendChat(here.url, token, message))).toMatchObject({ isDone: true });
    Object.assign(gates.there, { enter });
    Object.assign(gates.here, { findElsewhere });
  });

  test("a reply that may not go on alone ends when its last reader leaves, wherever that one reads", async () => {
    const provider = sayOnCommand(there, deltas);
    const message = newMessage({ resume: false });
    const asked = sendChat(there.url, token, message);
    provider.say(1);
    const first = await asked;
    const last = await sendChat(here.url, token, message);
    await first.body?.cancel();
    provider.say(1);
    await readUntil(last, ({ text }) => text === deltas.slice(0, 2).join(""));
    await eventually(() => there.mockLlm.openRequests === 0);
    expect(there.mockLlm.abortedRequests).toBeGreaterThan(0);
  });

  test("a verified visitor comes back at the other server, and nobody else does", async () => {
    const account = await here.createAccount({ email: `${crypto.randomUUID()}@shop.example` });
    const known = await here.createCompanion({ visitorAuth: "required" }, account);
    const key = await createWebsiteKey(here.url, (await here.createKey(account)).key);
    const headersOf = async (sub: string) => ({
      "content-type": "application/json",
      "x-visitor-token": await signToken(key, known.id, { sub }),
    });
    const provider = sayOnCommand(there, deltas);
    const message = newMessage();
    const asked = sendChat(there.url, known.embedToken, message, { headers: await headersOf("customer-1") });
    provider.say(1);
    const first = await asked;
    const stranger = await follow(here.url, known.embedToken, message, 0, { headers: await headersOf("customer-2") });
    expect(stranger.status).toBe(404);
    const again = await follow(here.url, known.embedToken, message, 0, { headers: await headersOf("customer-1") });
    provider.say();
    expect(await readAll(again)).toMatchObject({ text: whole, isDone: true });
    await readAll(first);
  });

  test.each([
    ["cannot reach", () => "http://127.0.0.1:1"],
    ["take for a third one", () => there.url],
  ])("a server that others %s is 503 with Retry-After, until its reply is stored", async (_, findUrl) => {
    const environment = { COMPANIOND_INSTANCE_URL: findUrl() };
    const lost = await startTestServer({ dataDir, isShared: true, environment });
    const provider = sayOnCommand(lost, deltas);
    const message = newMessage();
    const asked = sendChat(lost.url, token, message);
    provider.say(1);
    const first = await asked;
    const calls = [follow, cancel, sendChat].map((call) => call(here.url, token, message));
    for (const response of await Promise.all(calls)) {
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(await readProblem(response)).toMatchObject({ code: "unavailable" });
    }
    provider.say();
    expect(await readAll(first)).toMatchObject({ text: whole, isDone: true });
    expect(await readAll(await follow(here.url, token, message))).toMatchObject({ text: whole, isDone: true });
    await lost.close();
  });

  test("what is changed on the way between servers is never shown, and ends the stream as broken", async () => {
    using proxy = startTamperingProxy(() => lost.url);
    const lost = await startTestServer({
      dataDir,
      isShared: true,
      environment: { COMPANIOND_INSTANCE_URL: proxy.url },
    });
    const read = async (method: "follow" | "repeat") => {
      const provider = sayOnCommand(lost, deltas);
      const message = newMessage();
      const asked = sendChat(lost.url, token, message);
      provider.say(1);
      const first = await asked;
      const before = lost.services.replies.resumedCount;
      const again = method === "follow" ? follow(here.url, token, message) : sendChat(here.url, token, message);
      await eventually(() => lost.services.replies.resumedCount > before);
      provider.say();
      expect(await readAll(first)).toMatchObject({ text: whole, isDone: true });
      return await readAll(await again);
    };
    expect(await read("follow")).toMatchObject({ text: whole, isDone: true });
    proxy.tamper = (answer) => {
      answer.body = answer.body.replace(" alle", " kein");
    };
    for (const method of ["follow", "repeat"] as const) {
      const changed = await read(method);
      expect([changed.isDone, changed.comments.at(-1)]).toEqual([false, "error unavailable"]);
      expect(whole.slice(0, -" alle".length)).toStartWith(changed.text);
    }
    await lost.close();
  });

  test("a server that is killed ends its streams at the others without a lie, and the message runs anew there", async () => {
    const child = Bun.spawn([process.execPath, `${import.meta.dir}/../support/server-process.ts`], {
      env: {
        PATH: process.env["PATH"] ?? "",
        COMPANIOND_DATA_DIR: dataDir,
        OPENAI_API_KEY: "sk-test-key-of-the-mock",
        OPENAI_BASE_URL: `${there.mockLlm.url}/v1`,
        COMPANIOND_LOG: "error",
        ...(await engineEnvironment(dataDir, { isShared: true })),
      },
      stdin: "pipe",
      stdout: "pipe",
    });
    const url = String((await readLines(child.stdout).next()).value);
    const provider = sayOnCommand(there, deltas);
    const message = newMessage();
    const asked = sendChat(url, token, message);
    provider.say(2);
    await asked;
    const following = await follow(here.url, token, message);
    const read = readAll(following);
    await eventually(() => there.mockLlm.openRequests === 1);
    child.kill("SIGKILL");
    expect(await read).toMatchObject({ isDone: false, text: deltas.slice(0, 2).join("") });
    expect((await read).comments.at(-1)).toBe("error unavailable");
    sayOnCommand(here, deltas).say();
    let again: Response | undefined;
    // Its place is free once it is known to be dead.
    await eventually(async () => {
      again = await sendChat(here.url, token, message);
      return again.status === 200 || again.status !== 503;
    });
    expect(await readAll(again as Response)).toMatchObject({ text: whole, isDone: true });
    expect(await kept()).toEqual(wholeExchange);
  });
}
