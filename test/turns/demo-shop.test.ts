/** What a newcomer sees of `serve --demo` in the first minute: text, a cited source, a tool at work, and a confirmation. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ensureDemo } from "../../src/app/demo.ts";
import { demoEmail } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { apiClient, expectInvalid } from "../support/api-client.ts";
import { startTestServer, type TestServer, testContext } from "../support/app.ts";
import { sendChat } from "../support/chat.ts";
import { eventually } from "../support/eventually.ts";
import { readEvents } from "../support/tool-world.ts";

const mark = "(Demo: answered inside companiond; nothing was sent anywhere.)";

let server: TestServer;
let token: string;
let ada: Companion;
beforeAll(async () => {
  server = await startTestServer({ isDemoProvider: true });
  const { store, indexing } = server.services;
  token = await ensureDemo(store, systemIds, testContext);
  indexing.wake();
  const found = await store.companions.findByEmbedToken(token);
  if (found === null) throw new Error("there is no demo");
  ada = found.companion;
  await eventually(async () => (await listSources())[0]?.status === "ready");
});
afterAll(() => server.close());

async function listSources() {
  const page = { limit: 9, afterId: null };
  return (await server.services.store.knowledge.list(ada.accountId, ada.id, page))?.items ?? [];
}
const listTools = () => server.services.store.tools.listAll(ada.id);

async function say(message: string, fields: Record<string, unknown> = {}) {
  return await readEvents(await sendChat(server.url, token, { message, events: true, ...fields }));
}

const starter = (index: number) => ada.starters[index] ?? "";

test("the first starter gets plain text", async () => {
  const { text, isDone, events } = await say(starter(0));
  expect([isDone, events.filter(({ name }) => name !== "sources")]).toEqual([true, []]);
  expect(text).toContain("companiond's built-in demo");
});

test("the second gets a quotation that cites its source", async () => {
  const { text, events } = await say(starter(1));
  expect(text).toContain("> Used bicycles have a guarantee of one year, but for tyres, chains and brake pads.[1]");
  expect(text).toEndWith("\n\n[1] The demo's bicycle shop");
  const sources = [{ n: 1, title: "The demo's bicycle shop", url: null, page: null }];
  expect(events).toEqual([{ name: "sources", data: { sources } }]);
});

test("the third has a tool called, and its result says that it is a demo", async () => {
  const { text, events } = await say(starter(2));
  expect(events.slice(0, 2)).toMatchObject([
    { name: "tool", data: { name: "opening_hours", state: "running" } },
    { name: "tool", data: { name: "opening_hours", state: "done" } },
  ]);
  expect(text).toContain("Saturday 10:00 to 16:00");
  expect(text).toContain(mark);
});

test("the fourth asks for a confirmation without a word, and books nothing anywhere once it is given", async () => {
  const session = { session_id: crypto.randomUUID() };
  const asked = await say(starter(3), session);
  expect(asked).toMatchObject({ text: "", isDone: true });
  const [confirm] = asked.events;
  expect(confirm).toMatchObject({
    name: "confirm",
    data: {
      tool: "book_test_ride",
      title: "Book a test ride (demo)",
      arguments: { bicycle: "City bicycle", day: "Saturday" },
    },
  });
  const callId = String(confirm?.data.call_id);
  const response = await fetch(`${server.url}/api/embed/${token}/confirmations/${callId}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ approve: true, ...session }),
  });
  const { text, isDone } = await readEvents(response);
  expect(isDone).toBe(true);
  expect(text).toContain(`Booked: City bicycle, Saturday at 10:30, as DEMO-${callId.slice(-6).toUpperCase()}. ${mark}`);
});

test("a message that has nothing to do with the tools calls none", async () => {
  const messages = ["Hello!", "What does a day cost?", "Can I bring it back?", "Tell me a story", "Thanks"];
  const replies = await Promise.all(messages.map((message) => say(message)));
  expect(replies.flatMap(({ events }) => events).filter(({ name }) => name !== "sources")).toEqual([]);
});

test("what a tool was called for is no question that knowledge has not answered", async () => {
  const page = { limit: 20, afterId: null };
  const asked = async () => {
    const found = await server.services.store.unanswered.list(ada.accountId, ada.id, page);
    return found?.items.map(({ question }) => question) ?? [];
  };
  await eventually(async () => (await asked()).includes("Tell me a story"));
  for (const question of [starter(2), starter(3)]) expect(await asked()).not.toContain(question);
});

test("nothing of it needs a key for secrets", async () => {
  expect((await listTools()).map(({ sealedSecret }) => sealedSecret)).toEqual(["", ""]);
  expect(await server.services.store.tools.listHolders(1)).toEqual([]);
});

test("its tools stay what they are, and nobody can make another of their kind", async () => {
  const account = await server.services.store.accounts.findByEmail(demoEmail);
  if (account === null) throw new Error("the demo has no account");
  const { key } = await server.createKey(account);
  const { call } = apiClient(server.url, key);
  const [tool] = await listTools();
  const path = `/api/companions/${ada.id}/tools`;
  const read = await call("GET", `${path}/${tool?.id}`);
  expect(read.json.url).toBe("companiond:demo/test-ride");
  expect((await call("PATCH", `${path}/${tool?.id}`, { ...read.json, timeout_ms: 5000 })).status).toBe(200);
  for (const url of ["https://shop.example/", "companiond:demo/opening-hours", null]) {
    expectInvalid(await call("PATCH", `${path}/${tool?.id}`, { url }), ["url"]);
  }
  for (const field of ["url", "mcp_url"]) {
    const refused = await call("POST", path, { name: "own", [field]: "companiond:demo/opening-hours" });
    expect(refused.status).toBe(400);
    expect(refused.json.errors).toEqual([{ param: field, detail: "The URL must begin with https://." }]);
  }
});

test("is whole again after a start that was cut off, and made once", async () => {
  const { store } = server.services;
  const [first] = await listTools();
  if (first === undefined) throw new Error("the demo has no tools");
  await store.tools.delete(ada.accountId, ada.id, first.id, testContext());
  await ensureDemo(store, systemIds, testContext);
  // Whatever was taken away while it was enabled stays away.
  expect(await listTools()).toHaveLength(1);
  await store.companions.update(ada.accountId, ada.id, { enabled: false }, testContext());
  await ensureDemo(store, systemIds, testContext);
  expect((await listTools()).map(({ name }) => name)).toEqual(["book_test_ride", "opening_hours"]);
  expect(await listSources()).toHaveLength(1);
  expect((await store.companions.findByEmbedToken(token))?.companion.enabled).toBe(true);
});
