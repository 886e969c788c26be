/** The end of a server, within one process: what its connections see of it. */
import { expect, test } from "bun:test";
import type { Store } from "../src/contracts/store/store.ts";
import { textParts } from "../src/domain/conversation.ts";
import { idleSeconds } from "../src/http/heartbeats.ts";
import { startTestServer } from "./support/app.ts";
import { chat, sendChat } from "./support/chat.ts";
import { openStoreBeside } from "./support/engine.ts";
import { eventually } from "./support/eventually.ts";
import { connectRaw, startRawChat } from "./support/raw-visitor.ts";
import { follow, newMessage, readAll, readUntil, sayOnCommand } from "./support/resumed-chat.ts";
import { firstPage } from "./support/store-world.ts";
import { temporaryDirectory } from "./support/temporary.ts";

test("a reply that outlasts the grace is cut after a comment, and what arrived is kept as incomplete", async () => {
  using directory = temporaryDirectory();
  const server = await startTestServer({ dataDir: directory.path });
  const { accountId, embedToken } = await server.createCompanion();
  const visitor = await startRawChat(server.url, embedToken, "one two three [[silence:4]]");
  await visitor.until((received) => received.includes("two"));
  await server.drain(50);
  const received = await visitor.closed;
  expect(received).toContain(": error unavailable\n\n");
  expect(received).not.toContain("[DONE]");
  await server.mockLlm.until(() => server.mockLlm.openRequests === 0);

  const store = await openStoreBeside(directory.path);
  const query = { companionId: null, visitorId: null, fromMs: null, toMs: null, q: null };
  const [conversation] = (await store.conversations.list(accountId, query, firstPage)).items;
  const found = await store.conversations.find(accountId, conversation?.id ?? "");
  expect(found?.messages.at(-1)).toMatchObject({
    role: "assistant",
    parts: textParts("You said: one two "),
    complete: false,
  });
  await store.close();
  await server.close();
});

test("a reply that nobody reads at the moment may end in the grace, and is stored as incomplete after it", async () => {
  using directory = temporaryDirectory();
  const grace = Promise.withResolvers<void>();
  const sleep = (durationMs: number) => (durationMs === 400 ? grace.promise : Bun.sleep(durationMs));
  const server = await startTestServer({ dataDir: directory.path, sleep });
  const { embedToken, id: companionId } = await server.createCompanion();
  const quick = sayOnCommand(server, ["so ", "far"]);
  const [whole, endless] = [newMessage(), newMessage({ message: "[[silence:2]]one two three" })];
  const read = async (message: typeof whole) =>
    await readUntil(await sendChat(server.url, embedToken, message), ({ text }) => text.length > 0);
  const lost = read(whole);
  quick.say(1);
  await lost;
  server.mockLlm.respond(null);
  await read(endless);
  const drained = server.drain(400);
  await eventually(() => server.services.lifecycle.isDraining);
  quick.say();
  const findIn = ({ turns }: Store, { session_id: sessionId, message_id }: typeof whole) =>
    turns.findExchange({ companionId, sessionId, visitorId: null }, message_id);
  await eventually(async () => (await findIn(server.services.store, whole))?.isComplete === true);
  grace.resolve();
  await drained;

  const store = await openStoreBeside(directory.path);
  const find = (message: typeof whole) => findIn(store, message);
  expect(await find(whole)).toMatchObject({ reply: "so far", isComplete: true, endCode: null });
  expect(await find(endless)).toMatchObject({ reply: "You said: ", isComplete: false, endCode: "unavailable" });
  await store.close();
  await server.close();
});

test("what was settled is there for who comes back after a restart", async () => {
  using directory = temporaryDirectory();
  const first = await startTestServer({ dataDir: directory.path });
  const { embedToken } = await first.createCompanion();
  const message = newMessage({ message: "[[say:Hello 😀]]" });
  expect((await chat(first.url, embedToken, message)).isDone).toBe(true);
  await first.close();
  const second = await startTestServer({ dataDir: directory.path });
  expect(await readAll(await follow(second.url, embedToken, message, 6))).toMatchObject({ text: "😀", isDone: true });
  expect(await chat(second.url, embedToken, message)).toMatchObject({ text: "Hello 😀", isDone: true });
  expect(second.mockLlm.requests).toEqual([]);
  await second.close();
});

test("connections that ask nothing do not hold up the end", async () => {
  const server = await startTestServer();
  const silent = await connectRaw(server.url);
  const halfway = await connectRaw(server.url);
  halfway.write("GET /healthz HTTP/1.1\r\nHost: compan");
  const idle = await connectRaw(server.url);
  idle.write("GET /healthz HTTP/1.1\r\nHost: companion.test\r\n\r\n");
  await idle.until((received) => received.includes('"ok"'));
  // Less than the idle limit, which would end them, too.
  const patience = Promise.withResolvers<string>();
  const timer = setTimeout(() => patience.resolve("still waiting"), (idleSeconds - 2) * 1_000);
  expect(await Promise.race([server.drain(60_000).then(() => "drained"), patience.promise])).toBe("drained");
  clearTimeout(timer);
  for (const visitor of [silent, halfway, idle]) visitor.vanish();
  await server.close();
});
