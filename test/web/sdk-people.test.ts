/** The SDK's listening: one stream over cuts, in the order of `seq`, and what is sent to the team. */
import { expect, jest, test } from "bun:test";
import { createCompanion, type LiveEvent } from "../../src/web/sdk/index.ts";
import { eventually } from "../support/eventually.ts";
import { openMemory } from "../support/sdk-world.ts";

interface Heard {
  method: string;
  path: string;
  query: URLSearchParams;
  accept: string | null;
  body: Record<string, unknown>;
}

/** Each answer serves one request; the last one all that follow. */
function open(answers: (string | Response | ((signal: AbortSignal) => Response | Promise<Response>))[]) {
  const heard: Heard[] = [];
  const companion = createCompanion({
    ...{ baseUrl: "http://server.invalid", token: "t", storage: openMemory() },
    async fetch(address: string, { method = "GET", headers, body, signal }) {
      const { pathname, searchParams: query } = new URL(address);
      const path = pathname.replace("/api/embed/t", "");
      const accept = new Headers(headers).get("accept");
      heard.push({ method, path, query, accept, body: JSON.parse(String(body ?? "{}")) });
      const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? "";
      if (typeof answer === "function") return await answer(signal as AbortSignal);
      return typeof answer === "string" ? new Response(answer) : (answer.clone() as Response);
    },
  });
  return { companion, heard };
}

const state = (name: string) =>
  `event: state\ndata: ${JSON.stringify({ state: name, person: null, since: null, until: null, reason: null })}\n\n`;
const message = (seq: number) => {
  const author = { type: "person", name: "Mia" };
  const told = { seq, author, text: `No. ${seq}`, message_id: null, created_at: "2026-11-27T12:00:00.000Z" };
  return `id: ${seq}\nevent: message\ndata: ${JSON.stringify(told)}\n\n`;
};

const words = (event: LiveEvent) =>
  event.type === "message" ? event.text : event.type === "state" ? event.state : `typing ${event.typing}`;

/** Goes on whenever it waits. */
async function listen(companion: ReturnType<typeof open>["companion"], options = {}) {
  const turnOfLoop = setImmediate;
  jest.useFakeTimers();
  const events: string[] = [];
  let end: unknown = null;
  const listening = (async () => {
    for await (const event of companion.live(options)) events.push(words(event));
  })().then(
    () => "ended",
    (error) => error,
  );
  void listening.then((how) => {
    end = how;
  });
  try {
    for (let turn = 0; end === null && turn < 2_000; turn++) {
      for (let step = 0; step < 5; step++) await new Promise((resolve) => turnOfLoop(resolve));
      jest.advanceTimersByTime(500);
    }
  } finally {
    jest.useRealTimers();
  }
  return { events, end };
}

test("a cut, a hint to come back and an answer of a proxy lose nothing and tell nothing twice", async () => {
  const { companion, heard } = open([
    `${state("person")}${message(1)}${message(2)}`,
    `${state("person")}${message(2)}event: typing\ndata: {"typing":true}\n\n${message(3)}: again\n\n`,
    new Response("", { status: 502 }),
    `: ping\n\n${state("companion")}${message(4)}`,
  ]);
  const { events, end } = await listen(companion);
  expect(events).toEqual(["person", "No. 1", "No. 2", "person", "typing true", "No. 3", "companion", "No. 4"]);
  expect(end).toBe("ended");
  expect(heard.map(({ query }) => query.get("after"))).toEqual(["0", "2", "3", "3"]);
  expect(heard[0]?.query.get("session_id")).toBe(companion.sessionId);
});

test("nothing to hear ends at once; a place given to others and a refusal are thrown", async () => {
  expect((await listen(open([new Response(null, { status: 204 })]).companion)).end).toBe("ended");
  const replaced = open([`${state("person")}: error replaced\n\n`]);
  expect((await listen(replaced.companion)).end).toMatchObject({ code: "replaced" });
  const unknown = open([
    Response.json({ code: "not_found", detail: "There is no such conversation." }, { status: 404 }),
  ]);
  expect((await listen(unknown.companion)).end).toMatchObject({ code: "not_found", status: 404 });
  expect([replaced.heard.length, unknown.heard.length]).toEqual([1, 1]);
});

test("a line that is mute for 25 seconds twice is polled by the JSON form, in this call and the next", async () => {
  const mute = (signal: AbortSignal) =>
    new Promise<Response>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const page = (name: string, seqs: number[]) =>
    Response.json({
      state: { state: name, person: null, since: null, until: null, reason: null },
      data: seqs.map((seq) => JSON.parse(message(seq).split("data: ")[1] ?? "")),
      cursor: seqs.at(-1) ?? 0,
    });
  const { companion, heard } = open([mute, mute, page("person", [1]), page("companion", [2]), page("companion", [])]);
  const { events, end } = await listen(companion);
  expect(events).toEqual(["person", "No. 1", "companion", "No. 2", "companion"]);
  expect(end).toBe("ended");
  expect(heard.map(({ accept, query }) => [accept, query.get("after"), query.get("wait")])).toEqual([
    [null, "0", null],
    [null, "0", null],
    ["application/json", "0", "0"],
    ["application/json", "1", "25"],
    ["application/json", "2", "25"],
  ]);
  await listen(companion, { after: 2 });
  expect(heard.at(-1)?.accept).toBe("application/json");
});

test("listening ends with its signal, and with the visitor who signs out", async () => {
  const forever = (signal: AbortSignal) =>
    new Response(
      new ReadableStream({
        start(body) {
          body.enqueue(new TextEncoder().encode(state("person")));
          signal.addEventListener("abort", () => body.error(signal.reason));
        },
      }),
    );
  for (const leave of ["signal", "identify"] as const) {
    const { companion } = open([forever]);
    const controller = new AbortController();
    const events = companion.live({ signal: controller.signal });
    expect((await events.next()).value).toMatchObject({ type: "state", state: "person" });
    const next = events.next();
    next.catch(() => {});
    if (leave === "signal") controller.abort();
    else companion.identify(null);
    await expect(next).rejects.toMatchObject({ name: "AbortError" });
  }
});

test("a person is asked for and left, contacts and ratings are sent, each with the conversation's ids", async () => {
  const asked = {
    state: "waiting",
    until: "2026-11-27T12:02:00.000Z",
    available: true,
    reopens_at: null,
    contact: false,
  };
  const { companion, heard } = open([Response.json(asked), new Response(null, { status: 204 })]);
  expect(await companion.askForPerson({ reason: "A refund" })).toEqual(asked as never);
  await companion.backToCompanion();
  await companion.mark({ typing: true });
  await companion.mark({ seen: 7 });
  await companion.leaveContact({ email: "ada@example.com", consent: true });
  await companion.rate("m-1", { rating: "down", reasons: ["unclear"], comment: "Shorter" });
  await companion.setResolved(null);
  const ids = { session_id: companion.sessionId, visitor_id: companion.visitorId };
  expect(heard.map(({ method, path, body }) => [method, path, body])).toEqual([
    ["POST", "/person", { reason: "A refund", ...ids }],
    ["DELETE", "/person", {}],
    ["POST", "/live", { typing: true, ...ids }],
    ["POST", "/live", { seen: 7, ...ids }],
    ["POST", "/contact", { email: "ada@example.com", consent: true, ...ids }],
    ["PUT", "/ratings/m-1", { rating: "down", reasons: ["unclear"], comment: "Shorter", ...ids }],
    ["PUT", "/resolved", { resolved: null, ...ids }],
  ]);
  expect(heard[1]?.query.get("session_id")).toBe(companion.sessionId);
});

test("a message that is kept for a person ends without a word, and says who answers; what a person took is cut", async () => {
  const { companion, heard } = open([
    `${state("person")}data: [DONE]\n\n`,
    'data: {"text":"Nothing."}\n\nevent: offer\ndata: {}\n\ndata: [DONE]\n\n',
    `data: {"text":"A part"}\n\n: error taken\n\n`,
  ]);
  const told: string[] = [];
  const options = { onState: ({ state }: { state: string }) => told.push(state), onOffer: () => told.push("offer") };
  const read = async () => {
    let text = "";
    try {
      for await (const fragment of companion.chat("Hi", options)) text += fragment;
    } catch (error) {
      told.push(String(Object(Object(error).cause).code));
    }
    return text;
  };
  expect([await read(), await read(), await read()]).toEqual(["", "Nothing.", "A part"]);
  expect(told).toEqual(["person", "offer", "taken"]);
  expect(heard[0]?.body["events"]).toBe(true);
  await eventually(() => companion.pending === null);
});
