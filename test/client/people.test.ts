/** People by the client for servers, against a whole server. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Companiond, CompaniondError, type InboxEvent } from "../../src/client/index.ts";
import { startTestServer, type TestServer } from "../support/app.ts";

const grace = { id: "7", name: "Grace" };
const bo = { name: "Bo" };

let server: TestServer;
let client: Companiond;
let companionId: string;

beforeAll(async () => {
  server = await startTestServer();
  const { key } = await server.createKey(await server.createAccount());
  client = new Companiond({ baseUrl: server.url, apiKey: key, maxRetries: 0 });
  ({ id: companionId } = await client.companions.create({ name: "Ada", handoff: { when: "present" } }));
});
afterAll(() => server.close());

async function until<Item>(items: AsyncIterable<Item>, matches: (item: Item) => boolean): Promise<Item> {
  for await (const item of items) if (matches(item)) return item;
  throw new Error("the stream has ended");
}

test("somebody is there, sees who waits, takes, writes, keeps notes, and releases; the visitor follows it", async () => {
  const visitor = { session_id: crypto.randomUUID() };
  expect(await client.companions.askForPerson(companionId, visitor)).toMatchObject({ available: false });
  expect(await client.presence.set({ for_seconds: 60, as: grace })).toMatchObject({ available: true });
  const leaving = new AbortController();
  const inbox = client.inbox({ include_content: true, as: "7" }, leaving);
  const isIn = (state: string) => (event: InboxEvent) =>
    event.type === "conversation" && event.conversation.state === state;
  expect(await client.companions.askForPerson(companionId, visitor)).toMatchObject({ state: "waiting" });
  const waiting = await client.companions.chat(companionId, { ...visitor, message: "My parcel?" }).text();
  expect(waiting).not.toBe("");

  const { conversations } = client;
  const [row] = (await conversations.list({ state: "waiting", as: "7" })).data;
  expect(row).toMatchObject({ state: "waiting", status: "open", unread: 1 });
  const id = row?.id ?? expect.unreachable();
  expect(await conversations.take(id, { as: grace })).toMatchObject({ state: "person", person: { name: "Grace" } });
  const refused = await conversations.take(id, { as: bo }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(CompaniondError);
  expect(refused).toMatchObject({ code: "conflict", problem: { state: "person", person: { name: "Grace" } } });

  await conversations.typing(id, { typing: true, as: grace });
  const message = { text: "It arrives tomorrow.", client_id: crypto.randomUUID(), as: grace };
  const { seq } = await conversations.say(id, message);
  expect(await conversations.say(id, message)).toEqual({ seq });
  expect((await conversations.say(id, { text: "Anything else?", as: grace })).seq).toBe(seq + 1);
  const seen = await until(
    client.companions.live(companionId, visitor),
    (event) => event.type === "message" && event.seq > seq,
  );
  expect(seen).toMatchObject({ author: { type: "person", name: "Grace" }, text: "Anything else?" });
  await client.companions.reportLive(companionId, { ...visitor, seen: seq });
  await conversations.markRead(id, { seq, as: grace });
  expect(await conversations.update(id, { tags: ["Parcel"], as: grace })).toMatchObject({
    tags: ["parcel"],
    unread: 0,
  });
  const note = await conversations.addNote(id, { text: "Nice person", as: grace });
  expect(await conversations.get(id)).toMatchObject({
    handoff: { seen: seq },
    notes: [{ id: note.id, text: "Nice person" }],
  });
  await conversations.deleteNote(id, note.id);
  const told = await until(inbox, isIn("person"));
  expect(told).toMatchObject({ conversation: { id, person: { name: "Grace" } } });

  await conversations.release(id, { as: grace });
  const types: string[] = [];
  for await (const { type } of conversations.listAllEvents(id)) types.push(type);
  expect(types).toEqual(expect.arrayContaining(["released", "taken", "asked", "missed"]));
  leaving.abort();
});
