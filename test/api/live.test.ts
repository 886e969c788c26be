/** `/live` as visitors see it while people have their conversation. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../support/app.ts";
import { openEvents } from "../support/event-frames.ts";
import { eventually } from "../support/eventually.ts";
import { as, createLiveWorld } from "../support/live-world.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createWebsiteKey, signToken } from "../support/visitor-keys.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ lookEveryMs: 50 });
});
afterAll(() => server.close());

describe("a stream", () => {
  test("begins with the state, then has what comes, each message once with its place", async () => {
    const world = await createLiveWorld(server);
    const conversation = await world.begin();
    await conversation.take();
    await world.setMode("asked");
    const stream = await conversation.listen();
    expect(stream.status).toBe(200);
    expect(stream.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(stream.headers.get("cache-control")).toBe("no-store");
    expect(stream.headers.get("ratelimit-policy")).toBe('"live";q=1000000;w=60');
    expect(await conversation.write("I am Grace.")).toBe(3);
    const [state, message] = await stream.until(2);
    expect(state).toMatchObject({
      event: "state",
      id: null,
      data: { state: "person", person: { name: "Grace" }, reason: "taken", since: expect.any(String) },
    });
    expect(message).toMatchObject({
      event: "message",
      id: "3",
      data: { seq: 3, author: { type: "person", name: "Grace" }, text: "I am Grace.", message_id: expect.any(String) },
    });
    await conversation.release();
    const frames = await stream.untilOver();
    expect(frames.length).toBe(3);
    expect(frames[2]).toMatchObject({ event: "state", data: { state: "companion", person: null, reason: "released" } });
  });

  test("is resumed by the last id, which wins over `after` and counts as absent if it is none", async () => {
    const conversation = await (await createLiveWorld(server)).begin();
    await conversation.take();
    for (const text of ["a", "b", "c"]) await conversation.write(text);
    const read = async (query: string, headers = {}) => {
      const stream = await conversation.listen(query, headers);
      const last = `${await conversation.write("end")}`;
      await eventually(() => stream.frames.at(-1)?.id === last);
      stream.close();
      return stream.frames.flatMap(({ id }) => id ?? []);
    };
    expect(await read("")).toEqual(["3", "4", "5", "6"]);
    expect(await read("&after=3", { "last-event-id": "4" })).toEqual(["5", "6", "7"]);
    expect(await read("&after=5", { "last-event-id": "five" })).toEqual(["6", "7", "8"]);
    expect(await read("&after=99999")).toEqual(["9"]);
    // However far beyond the newest.
    expect(await read("&after=99999999999999999999")).toEqual(["10"]);
  });

  test("is 204 in plain talk, and stays open where people may take it at any time", async () => {
    const conversation = await (await createLiveWorld(server, { mode: "asked" })).begin();
    expect((await conversation.listen()).status).toBe(204);
    const any = await (await createLiveWorld(server, { mode: "any" })).begin();
    const open = await any.listen();
    await any.say("[[say:Still me]]");
    expect((await open.until(3)).map(({ event, data }) => data.author?.type ?? event)).toEqual([
      "state",
      "visitor",
      "companion",
    ]);
    open.close();
  });

  test("that was cut off while one person left and the next came has what both wrote", async () => {
    const conversation = await (await createLiveWorld(server, { mode: "any" })).begin();
    await conversation.take();
    const cut = await conversation.listen();
    await conversation.write("First");
    await cut.until(2);
    cut.close();
    await conversation.write("Unheard");
    await conversation.release();
    await conversation.take();
    await conversation.write("Again");
    const back = await conversation.listen("&after=3");
    expect((await back.until(3)).map(({ event, data }) => data.text ?? event)).toEqual(["state", "Unheard", "Again"]);
    back.close();
  });

  test("tells what was missed after a return, and then ends", async () => {
    const world = await createLiveWorld(server, { mode: "any" });
    const conversation = await world.begin();
    await conversation.take();
    await conversation.write("missed");
    await conversation.release();
    await world.setMode("asked");
    const frames = await (await conversation.listen("&after=1")).untilOver();
    expect(frames.map(({ event, data }) => data.text ?? `${event} ${data.state}`)).toEqual([
      "state companion",
      "missed",
    ]);
    expect((await conversation.listen("&after=3")).status).toBe(204);
  });

  test("refuses what is malformed, unknown, another visitor's, or not for people", async () => {
    const world = await createLiveWorld(server);
    const conversation = await world.begin();
    const base = `${server.url}/api/embed/${world.companion.embedToken}/live`;
    const status = async (query: string) => (await fetch(base + query)).status;
    const own = `?session_id=${conversation.sessionId}&visitor_id=${conversation.visitorId}`;
    expect(await status(`${own}&after=-1`)).toBe(400);
    expect(await status(`${own}&after=x`)).toBe(400);
    expect(await status("")).toBe(404);
    expect(await status(`?session_id=${conversation.sessionId}`)).toBe(404);
    expect(await status(`?session_id=${crypto.randomUUID()}&visitor_id=${conversation.visitorId}`)).toBe(404);
    const wait = (seconds: string) =>
      fetch(`${base}${own}&wait=${seconds}`, { headers: { accept: "application/json" } }).then(
        (answer) => answer.status,
      );
    expect([await wait("26"), await wait("-1"), await wait("0")]).toEqual([400, 400, 200]);
    const plain = await createLiveWorld(server, null);
    expect((await (await plain.begin()).listen()).status).toBe(409);
  });

  test("shows verified visitors everything", async () => {
    const world = await createLiveWorld(server, {}, { visitorAuth: "optional" });
    const key = await createWebsiteKey(server.url, world.key);
    const token = await signToken(key, world.companion.id);
    const conversation = await world.begin({ "x-visitor-token": token });
    const stream = await conversation.listen();
    expect((await stream.until(3)).map(({ event, id }) => id ?? event)).toEqual(["state", "1", "2"]);
    stream.close();
  });
});

describe("the JSON form", () => {
  test("answers at once with what there is, and waits for what comes", async () => {
    const conversation = await (await createLiveWorld(server)).begin();
    await conversation.take();
    const empty = await conversation.poll();
    expect(empty).toMatchObject({ status: 200, json: { state: { state: "person" }, data: [], cursor: 2 } });
    const waiting = conversation.poll("&after=2&wait=25");
    await eventually(() => server.services.live.size > 0);
    await conversation.write("Here I am.");
    expect((await waiting).json).toMatchObject({ data: [{ seq: 3, text: "Here I am." }], cursor: 3 });
    expect((await conversation.poll("&after=99")).json).toMatchObject({ data: [], cursor: 3 });
    expect(server.services.live.size).toBe(0);
  });

  test("does not wait where the companion answers, nor for a state that the last poll has not seen", async () => {
    const world = await createLiveWorld(server);
    const conversation = await world.begin();
    await conversation.take();
    await world.setMode("asked");
    expect((await conversation.poll("&after=2")).json.state.state).toBe("person");
    await conversation.release();
    const { json } = await conversation.poll("&after=2&wait=25");
    expect(json).toMatchObject({ state: { state: "companion", reason: "released" }, data: [] });
    expect((await conversation.poll("&after=2&wait=25")).json.state.state).toBe("companion");
  });

  test("ends its wait when the state becomes another", async () => {
    const world = await createLiveWorld(server);
    const conversation = await world.begin();
    await conversation.take();
    const waiting = conversation.poll("&after=2&wait=25");
    await eventually(() => server.services.live.size > 0);
    await conversation.release();
    expect((await waiting).json).toMatchObject({ state: { reason: "released" }, data: [], cursor: 2 });
  });
});

describe("what a visitor reports", () => {
  test("is seen by the team, and never goes back", async () => {
    const world = await createLiveWorld(server);
    const conversation = await world.begin();
    await conversation.take();
    await conversation.write("Read me.");
    const report = (body: object) =>
      fetch(`${server.url}/api/embed/${world.companion.embedToken}/live`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ session_id: conversation.sessionId, visitor_id: conversation.visitorId, ...body }),
      }).then((response) => response.status);
    const inbox = await openEvents(`${server.url}/api/inbox/events`, { authorization: `Bearer ${world.key}` });
    await inbox.until(2);
    expect([await report({ seen: 3 }), await report({ seen: 1 }), await report({ seen: 99, typing: true })]).toEqual([
      204, 204, 204,
    ]);
    const { json } = await world.owner.call("GET", `/api/conversations/${conversation.id}`);
    expect(json["handoff"]).toMatchObject({ seen: 3, reach: "next_message" });
    const typing = (await inbox.until(3)).at(-1);
    expect(typing).toMatchObject({
      event: "typing",
      data: { conversation_id: conversation.id, typing: true, who: { type: "visitor", id: null, name: null } },
    });
    expect([await report({ seen: -1 }), await report({ session_id: crypto.randomUUID() })]).toEqual([400, 404]);
    inbox.close();
  });

  test("of a person is shown while they type, and gone with their message", async () => {
    const world = await createLiveWorld(server);
    const conversation = await world.begin();
    await conversation.take();
    const stream = await conversation.listen();
    await stream.until(1);
    await world.owner.call("POST", `/api/conversations/${conversation.id}/typing`, { typing: true, as });
    await stream.until(2);
    await conversation.write("There.");
    const frames = await stream.until(4);
    expect(frames.map(({ event, data }) => [event, data.typing])).toEqual([
      ["state", undefined],
      ["typing", true],
      ["typing", false],
      ["message", undefined],
    ]);
    const { json } = await world.owner.call("GET", `/api/conversations/${conversation.id}`);
    expect(json["handoff"]).toMatchObject({ reach: "live" });
    stream.close();
  });

  test("is relayed by platforms, with the visitors for whom they vouch", async () => {
    const world = await createLiveWorld(server);
    const conversation = await world.begin();
    await conversation.take();
    const path = `/api/companions/${world.companion.id}/live`;
    const query = `?session_id=${conversation.sessionId}&visitor_id=${conversation.visitorId}`;
    const stream = await openEvents(`${server.url}${path}${query}`, { authorization: `Bearer ${world.key}` });
    await conversation.write("Relayed.");
    expect((await stream.until(2))[1]).toMatchObject({ id: "3", data: { text: "Relayed." } });
    const body = { session_id: conversation.sessionId, visitor_id: conversation.visitorId, seen: 3 };
    expect((await world.owner.call("POST", path, body)).status).toBe(204);
    const visitor = { sub: "ada" };
    expect((await world.owner.call("POST", path, { ...body, visitor })).status).toBe(404);
    await world.owner.call("POST", `/api/companions/${world.companion.id}/chat`, { message: "Hi", ...body, visitor });
    expect((await world.owner.call("POST", path, { ...body, visitor })).status).toBe(204);
    const everything = await openEvents(`${server.url}${path}${query}&visitor_sub=ada`, {
      authorization: `Bearer ${world.key}`,
    });
    expect((await everything.until(3)).map(({ event, id }) => id ?? event)).toEqual(["state", "1", "2"]);
    for (const one of [stream, everything]) one.close();
  });
});

test("what people wrote is to be had for 24 hours after the companion answers again", async () => {
  const clock = createManualClock(Date.now());
  const later = await startTestServer({ clock });
  const world = await createLiveWorld(later);
  const conversation = await world.begin();
  await conversation.write("Until tomorrow.");
  await conversation.release();
  await world.setMode("asked");
  clock.advance(24 * 60 * 60_000);
  const frames = await (await conversation.listen()).untilOver();
  expect(frames.map(({ event, id }) => id ?? event)).toEqual(["state", "3"]);
  clock.advance(1);
  expect((await conversation.listen()).status).toBe(204);
  expect((await conversation.poll()).json).toMatchObject({ data: [], cursor: 3 });
  await later.close();
});
