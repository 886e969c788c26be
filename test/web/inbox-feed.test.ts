/** The inbox in a tab, without a browser: its stream over cuts and planned ends, its alerts, and what a person sends. */
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";

const page = new EventTarget();
const kept = new Map<string, string>();
const stubs: Record<string, unknown> = {
  window: page,
  document: { hasFocus: () => false },
  history: { state: null },
  location: new URL("https://chat.example/app/inbox"),
  localStorage: {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  },
  Notification: class {
    static permission = "granted";
    constructor() {
      throw new TypeError("Illegal constructor. Use ServiceWorkerRegistration.showNotification() instead.");
    }
  },
};
const before = Object.getOwnPropertyDescriptors(globalThis);
Object.assign(globalThis, stubs);
afterAll(() => {
  for (const name of [...Object.keys(stubs), "fetch"]) {
    const own = Reflect.get(before, name);
    if (own === undefined) Reflect.deleteProperty(globalThis, name);
    else Object.defineProperty(globalThis, name, own);
  }
});

/** Not by name: the browser's own types are none of a test's. */
const load = (file: string) => import(join(import.meta.dir, "../../src/web/dashboard/inbox", file));
const { followInbox, inboxRows, isConnected } = await load("feed.ts");
const { Outbox, findUnshown } = await load("outbox.ts");
const { alerts, notify } = await load("alerts.ts");

const respond = (answer: (body: Record<string, unknown>) => Response | Promise<Response>) =>
  Object.assign(globalThis, {
    fetch: async (_: string, { body }: RequestInit) => await answer(JSON.parse(String(body ?? "{}"))),
  });

/** A stream whose end is in the test's hands. */
function openStream() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const row = (id: string, fields: object) => ({ id, state: "companion", status: "closed", unread: 0, ...fields });
  return {
    response: new Response(readable),
    send: (id: string, fields: object) =>
      writer.write(
        new TextEncoder().encode(`event: conversation\nid: 1\ndata: ${JSON.stringify(row(id, fields))}\n\n`),
      ),
    end: () => writer.close(),
  };
}

test("planned ends are no lost connection, alerts may throw, and settled rows do not pile up", async () => {
  const streams = [openStream(), openStream()] as const;
  const answers = [streams[0].response, new Response(null, { status: 502 }), streams[1].response];
  respond(() => answers.shift() ?? Promise.reject(new Error("No more.")));
  const connections: unknown[] = [];
  isConnected.onChange(() => connections.push(isConnected.value));
  alerts.notices.value = true;
  const stop = followInbox("p", () => {});
  try {
    for (let at = 0; at < 230; at++) {
      await streams[0].send(`closed ${at}`, { updated_at: new Date(at).toISOString() });
    }
    await streams[0].send("open", { status: "open", updated_at: new Date(0).toISOString() });
    await eventually(() => inboxRows.value.has("open"));
    expect([inboxRows.value.size, inboxRows.value.has("closed 29"), inboxRows.value.has("closed 30")]).toEqual([
      ...[201, false, true],
    ]);
    const back = () => page.dispatchEvent(new Event("online"));
    await streams[0].end();
    // Its end is no news; that the next one is refused is.
    await eventually(() => back() && connections.length > 1);
    await eventually(() => back() && connections.length > 2);
    expect(connections).toEqual([true, false, true]);
    await streams[1].send("open", { state: "waiting", updated_at: new Date(1).toISOString() });
    await streams[1].send("after", { status: "open", updated_at: new Date(1).toISOString() });
    await eventually(() => inboxRows.value.has("after"));
    expect(connections).toEqual([true, false, true]);
    expect(() => notify("Ada asks for a person.", "c", () => {})).not.toThrow();
    // Switched off in another tab.
    const change = { key: "companiond-notices", newValue: "off" };
    page.dispatchEvent(Object.assign(new Event("storage"), change));
    expect(alerts.notices.value).toBe(false);
  } finally {
    stop();
  }
});

test("what is sent stands in the transcript once, whichever of the answer and the event comes first", async () => {
  let answer = (_: Response) => {};
  respond(() => new Promise((resolve) => (answer = resolve)));
  let asked = 0;
  const outbox = new Outbox("p", "c", "/api/conversations/c", () => asked++);
  outbox.setDraft("Hello");
  outbox.submit(3);
  const message = (text: string, author?: object) => ({ text, author });
  const mine = message("Hello", { member_id: "p" });
  const early = { message_count: 3, messages: [message("a"), mine, message("b")] };
  const late = { message_count: 5, messages: [...early.messages, mine, message("Thanks")] };
  const unshown = (conversation: object) => findUnshown(outbox.kept.value.outgoing, conversation, "p").length;
  // A page of history may be loaded meanwhile: the same words of before are another message.
  expect([unshown({ ...early, messages: [message("b")] }), unshown(early), unshown(late)]).toEqual([1, 1, 0]);
  await eventually(() => answer.length === 1);
  answer(Response.json({ seq: 4 }));
  await eventually(() => asked === 1);
  expect([unshown(early), unshown(late), outbox.kept.value.outgoing.length]).toEqual([1, 0, 1]);
  // Neither sent again nor taken back.
  outbox.takeBack();
  outbox.settle(3);
  expect(outbox.kept.value).toMatchObject({ draft: "", outgoing: [{ seq: 4 }] });
  outbox.settle(5);
  expect([outbox.kept.value.outgoing, kept.size - 1]).toEqual([[], 0]);
});
