/** Chat through the client for servers: one reply, each character once, whatever happens to its connections. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Companiond, CompaniondError, type CompaniondOptions } from "../../src/client/index.ts";
import type { Account } from "../../src/domain/account.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { indexText } from "../support/index-text.ts";
import { wholeStream } from "../support/mock-llm-replies.ts";

let server: TestServer;
let key: string;
let id: string;
let account: Account;

beforeAll(async () => {
  server = await startTestServer();
  account = await server.createAccount();
  ({ key } = await server.createKey(account));
  ({ id } = await server.createCompanion({}, account));
});
afterAll(() => server.close());

function connect(options: Partial<CompaniondOptions> = {}) {
  const waitsMs: number[] = [];
  const sleep = async (durationMs: number) => void waitsMs.push(durationMs);
  return { waitsMs, client: new Companiond({ baseUrl: server.url, apiKey: key, sleep, ...options }) };
}

/** Breaks the body of the first answers after so many bytes each, and tells what was asked. */
function cutting(...lengths: number[]) {
  const asked: string[] = [];
  const cutFetch = async (url: string, init: RequestInit) => {
    asked.push(`${init.method} ${new URL(url).pathname.split("/").length} ${new URL(url).searchParams.get("offset")}`);
    const response = await fetch(url, init);
    const length = init.method === "DELETE" ? undefined : lengths.shift();
    if (length === undefined || response.body === null) return response;
    if (length === 0) throw new TypeError("cut before the head");
    let left = length;
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(bytes, controller) {
          controller.enqueue(bytes.subarray(0, left));
          left -= bytes.length;
          if (left <= 0) controller.error(new TypeError("cut"));
        },
      }),
    );
    return new Response(body, response);
  };
  return { asked, fetch: cutFetch };
}

async function read(reply: AsyncIterable<string>) {
  const texts: string[] = [];
  try {
    for await (const text of reply) texts.push(text);
    return { text: texts.join(""), count: texts.length, error: null };
  } catch (error) {
    if (!(error instanceof CompaniondError)) throw error;
    return { text: texts.join(""), count: texts.length, error };
  }
}

const requestsFor = (words: string) => server.mockLlm.requests.filter(({ userText }) => userText.includes(words));

test("yields the reply as it is written, and remembers the conversation", async () => {
  const { client } = connect();
  const first = client.companions.chat(id, { message: "[[say:Grüße 🚲 und mehr]]" });
  const { text, count } = await read(first);
  expect(text).toBe("Grüße 🚲 und mehr");
  expect(count).toBeGreaterThan(1);
  const second = client.companions.chat(id, { message: "And then?", session_id: first.sessionId });
  expect(await second.text()).toBe("You said: And then?");
  expect(second.sessionId).toBe(first.sessionId);
  expect(JSON.stringify(requestsFor("And then?")[0])).toContain("Grüße 🚲 und mehr");
});

test("tells what a reply cites where the message asks for it, also after the line was cut behind its text", async () => {
  const knowing = await server.createCompanion({ citations: "markers" }, account);
  await indexText(server.services.store, knowing, { title: "Terms", passages: ["Bicycles are lent for two weeks."] });
  const message = "For how long are bicycles lent?";
  server.mockLlm.respond(async (_request, response) => {
    for (const part of wholeStream(["Two weeks [1]."])) await response.write(part);
    response.end();
  });
  const whole = connect().client.companions.chat(knowing.id, { message, events: true });
  expect([whole.sources, await whole.text()]).toEqual([null, "Two weeks [1]."]);
  const cited = [{ n: 1, title: "Terms", url: null, page: null }];
  expect(whole.sources).toEqual(cited);
  // After the last text, and before the event has begun.
  const lost = cutting('data: {"text":"Two weeks [1]."}\n\nevent: so'.length);
  const cut = connect({ fetch: lost.fetch }).client.companions.chat(knowing.id, { message, events: true });
  expect([await cut.text(), cut.sources]).toEqual(["Two weeks [1].", cited]);
  const unasked = connect().client.companions.chat(knowing.id, { message });
  expect([await unasked.text(), unasked.sources]).toEqual(["Two weeks [1].", null]);
  server.mockLlm.respond(null);
});

test("says for whom it relays", async () => {
  const { client } = connect();
  const visitor = { sub: "user-42", name: "Grace", attributes: { plan: "pro" } };
  await client.companions.chat(id, { message: "Hello", visitor }).text();
  const { data } = await client.conversations.list({ visitor_sub: "user-42" });
  expect(data[0]?.visitor).toMatchObject(visitor);
});

describe("a reply whose connection breaks", () => {
  test.each([
    ["before the first answer's head", [0]],
    ["in its first event", [20]],
    ["within a character", [47]],
    ["again and again", [60, 90, 40]],
  ])("%s, goes on where it was", async (_, lengths) => {
    const { fetch, asked } = cutting(...lengths);
    const { client, waitsMs } = connect({ fetch });
    // Longer than all that is cut: what was written in the meantime comes in a single event.
    const said = `Grüße 🚲 aus der Werkstatt, ${lengths}${", und noch viel mehr Worte".repeat(10)}`;
    const words = `[[delay:2]] [[say:${said}]]`;
    const { text, error } = await read(client.companions.chat(id, { message: words }));
    expect(error).toBeNull();
    expect(text).toBe(said);
    expect(requestsFor(words)).toHaveLength(1);
    expect(asked.length).toBe(lengths.length + 1);
    expect(waitsMs).toHaveLength(lengths.length);
  });
});

test("a reply that the model broke off throws after its text, and says why", async () => {
  const { client, waitsMs } = connect();
  const { text, error } = await read(client.companions.chat(id, { message: "[[cut:3]] [[words:9]]" }));
  expect(text).not.toBe("");
  expect(error).toMatchObject({ code: "incomplete", cause: { code: "upstream_error" } });
  expect(waitsMs).toEqual([]);
});

test("a refused message throws the server's reason", async () => {
  const { client } = connect();
  const { error } = await read(client.companions.chat(id, { message: "[[fail:400]]" }));
  expect(error).toMatchObject({ code: "upstream_error", status: 502 });
  const empty = client.companions.chat(id, { message: "" });
  await expect(empty.text()).rejects.toMatchObject({ code: "invalid_request", errors: [{ param: "message" }] });
});

test.each(["the loop is left", "the signal fires", "it is cancelled"])(
  "the provider is stopped when %s",
  async (how) => {
    const { client } = connect();
    const stopped = new AbortController();
    const aborted = server.mockLlm.abortedRequests;
    const message = { message: "[[silence:2]] [[words:9]]" };
    const reply = client.companions.chat(id, message, { signal: stopped.signal });
    const reading = (async () => {
      for await (const _ of reply) {
        if (how === "the loop is left") break;
        if (how === "the signal fires") stopped.abort(new Error("stopped"));
        else await reply.cancel();
      }
    })();
    if (how === "the loop is left") await expect(reading).resolves.toBeUndefined();
    else if (how === "the signal fires") await expect(reading).rejects.toThrow("stopped");
    else await expect(reading).rejects.toMatchObject({ code: "incomplete", cause: { code: "cancelled" } });
    await server.mockLlm.until(() => server.mockLlm.abortedRequests === aborted + 1);
  },
);

test("the same message id gets the same reply, and the model is asked once", async () => {
  const { client } = connect();
  const message = { message: "Once", message_id: crypto.randomUUID(), session_id: crypto.randomUUID() };
  expect(await client.companions.chat(id, message).text()).toBe("You said: Once");
  expect(await client.companions.chat(id, message).text()).toBe("You said: Once");
  expect(requestsFor("Once")).toHaveLength(1);
});
