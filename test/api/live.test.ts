/** `/live` as visitors see it while people have their conversation. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { createLiveWorld } from "../support/live-world.ts";
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
