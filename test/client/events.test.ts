/** Event streams of the client for servers: they come back after every cut behind the last event, and end where they must. */
import { expect, test } from "bun:test";
import { Companiond, CompaniondError, type InboxEvent, type InboxQuery } from "../../src/client/index.ts";

const conversation = (change: number) => `event: conversation\nid: ${change}\ndata: {"id":"c${change}"}\n\n`;

type Served = string | Response | Error;

/** Serves these in turn, each as a stream cut at its end; then 401, which ends the client. */
function openClient(served: Served[]) {
  const asked: { search: string; lastEventId: string | null }[] = [];
  const waits: number[] = [];
  const client = new Companiond({
    ...{ baseUrl: "http://server.invalid", apiKey: "cmp_live_x", maxRetries: 0 },
    sleep: async (durationMs) => void waits.push(durationMs),
    async fetch(url, { headers }) {
      asked.push({ search: new URL(url).search, lastEventId: new Headers(headers).get("last-event-id") });
      const next = served.shift() ?? problem(401, "unauthorized");
      if (next instanceof Error) throw next;
      return typeof next === "string" ? new Response(next, { headers: { "content-type": "text/event-stream" } }) : next;
    },
  });
  return { client, asked, waits };
}

function openInbox(served: Served[], query: InboxQuery = {}, signal?: AbortSignal) {
  const { client, ...seen } = openClient(served);
  return { events: client.inbox(query, { signal }), ...seen };
}

function problem(status: number, code: string, headers: Record<string, string> = {}): Response {
  const body = { type: "about:blank", title: code, status, detail: "A sentence.", code, request_id: "r1" };
  const type = { "content-type": "application/problem+json" };
  return new Response(JSON.stringify(body), { status, headers: { ...type, ...headers } });
}

async function collect(events: AsyncIterable<InboxEvent>): Promise<[ids: (string | null)[], end: unknown]> {
  const ids: (string | null)[] = [];
  try {
    for await (const event of events) ids.push(event.type === "conversation" ? event.id : null);
    return [ids, null];
  } catch (error) {
    return [ids, error];
  }
}

test("every change comes once over cuts, wherever they are, and the first wait is spread over 3 s", async () => {
  const half = conversation(3).slice(0, 30);
  const served = [
    `: ping\n\n${conversation(1)}${conversation(2)}${half}`,
    `${conversation(3)}: again\n\n`,
    conversation(4),
  ];
  const { events, asked, waits } = openInbox(served, { include_content: true, as: "7" });
  const [ids, end] = await collect(events);
  expect(ids).toEqual(["1", "2", "3", "4"]);
  expect(end).toBeInstanceOf(CompaniondError);
  expect(end).toMatchObject({ code: "unauthorized" });
  expect(asked.map(({ lastEventId }) => lastEventId)).toEqual([null, "2", "3", "4"]);
  expect(asked[0]?.search).toBe("?include_content=true&as=7");
  expect(waits.length).toBe(3);
  for (const wait of waits) expect(wait).toBeLessThanOrEqual(3000);
});

test("waits longer each time in which nothing comes, up to 30 s, and as long as the server asks", async () => {
  const cut = () => new TypeError("connection refused");
  const served = [
    conversation(1),
    ...Array.from({ length: 7 }, cut),
    problem(429, "rate_limited", { "retry-after": "99" }),
  ];
  const { events, waits } = openInbox(served);
  await collect(events);
  const [first = 0, ...rest] = waits;
  expect(first).toBeLessThanOrEqual(3000);
  expect(rest).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 99_000]);
});

test("goes on behind a change that an earlier run has had, and passes over what it does not know", async () => {
  const typing =
    'event: typing\ndata: {"conversation_id":"c1","typing":true,"who":{"type":"visitor","id":null,"name":null}}\n\n';
  const presence = 'event: presence\ndata: {"members":[],"available":false}\n\n';
  const { events, asked } = openInbox([`event: later\ndata: {}\n\n${typing}${presence}`], { after: "17" });
  const seen: InboxEvent[] = [];
  await (async () => {
    for await (const event of events) seen.push(event);
  })().catch(() => {});
  expect(asked[0]?.lastEventId).toBe("17");
  expect(seen).toEqual([
    { type: "typing", conversation_id: "c1", typing: true, who: { type: "visitor", id: null, name: null } },
    { type: "presence", members: [], available: false },
  ]);
});

test("a first call that fails is thrown, as is what is no event stream", async () => {
  const [, refused] = await collect(openInbox([new TypeError("connection refused")]).events);
  expect(refused).toMatchObject({ code: "network" });
  const page = () => new Response("<html>", { headers: { "content-type": "text/html" } });
  const [ids, wrong] = await collect(openInbox([conversation(1), page()]).events);
  expect(ids).toEqual(["1"]);
  expect(wrong).toMatchObject({ code: "bad_response" });
});

test("a visitor's conversation is followed by `seq`, until the companion answers, or a newer stream takes over", async () => {
  const message = (seq: number) => `id: ${seq}\nevent: message\ndata: {"seq":${seq},"text":"m${seq}"}\n\n`;
  const follow = async (served: Served[]) => {
    const { client, asked } = openClient(served);
    const seen: unknown[] = [];
    let end: unknown = null;
    try {
      for await (const event of client.companions.live("c", { session_id: "s", after: 2 })) seen.push(event);
    } catch (error) {
      end = error;
    }
    return { seen, end, ids: asked.map(({ lastEventId }) => lastEventId) };
  };
  const state = 'event: state\ndata: {"state":"person"}\n\n';
  const over = await follow([`${state}${message(3)}`, message(4), new Response(null, { status: 204 })]);
  expect(over).toEqual({
    seen: [{ type: "state", state: "person" }, ...[3, 4].map((seq) => ({ type: "message", seq, text: `m${seq}` }))],
    end: null,
    ids: ["2", "3", "4"],
  } as never);
  const replaced = await follow([`${message(3)}: error replaced\n\n`]);
  expect(replaced).toMatchObject({ end: { code: "replaced" }, ids: ["2"] });
});

test("ends with the reason of its signal", async () => {
  const leaving = new AbortController();
  const { events, asked } = openInbox([conversation(1), conversation(2)], {}, leaving.signal);
  const reason = new Error("the page went away");
  await events.next();
  leaving.abort(reason);
  const [ids, end] = await collect(events);
  expect([ids, end, asked.length]).toEqual([[], reason, 1]);
});
