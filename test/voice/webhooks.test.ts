/** `POST /api/voice/elevenlabs/webhook`: what was spoken is added to the conversation. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestServer, testContext } from "../support/app.ts";
import { postCallEvent, type SpokenTurn, signDelivery } from "../support/elevenlabs-delivery.ts";
import { withText } from "../support/turn-messages.ts";
import { startVoiceServer, type VoiceServer, webhookSecret } from "../support/voice-server.ts";

let server: VoiceServer;
beforeAll(async () => {
  server = await startVoiceServer();
});
afterAll(() => server.close());

const talk: SpokenTurn[] = [
  { role: "agent", message: "Hi, I'm Ada." },
  { role: "user", message: "My name is Grace." },
  { role: "agent", message: "Nice to meet you, Gra", interrupted: true },
];

async function startSession(ids: { session_id?: string; visitor_id?: string } = {}) {
  const companion = await server.createCompanion({ voiceId: "voice-1" });
  const response = await server.askVoiceToken(companion.embedToken, ids);
  expect(response.status).toBe(200);
  const sessionId = response.headers.get("x-session-id") ?? "";
  return { companion, sessionId, conversationId: server.voice.sessions.at(-1)?.conversationId ?? "" };
}

function deliver(body: string, signature = signDelivery(webhookSecret, body), url = server.url): Promise<Response> {
  return fetch(`${url}/api/voice/elevenlabs/webhook`, {
    method: "POST",
    headers: { "content-type": "application/json", "elevenlabs-signature": signature },
    body,
  });
}

/** Sends a text turn and waits for its end. */
async function write(embedToken: string, sessionId: string, message: string): Promise<void> {
  const response = await fetch(`${server.url}/api/embed/${embedToken}/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message, session_id: sessionId }),
  });
  expect(await response.text()).toEndWith("data: [DONE]\n\n");
}

/** The last request to the language model, without the companion's own prompt. */
function lastPrompt(): { role: string; content: string }[] {
  const sent = server.mockLlm.requests.at(-1)?.body as { messages: { role: string; content: string }[] };
  return sent.messages.filter(({ role }) => role !== "system");
}

async function readConversations({ accountId, id }: { accountId: string; id: string }) {
  const query = { companionId: id, visitorId: null, fromMs: null, toMs: null, q: null };
  const { items } = await server.services.store.conversations.list(accountId, query, { limit: 100, afterId: null });
  return await Promise.all(
    items.map(async (item) => {
      const found = await server.services.store.conversations.find(accountId, item.id);
      return { ...item, messages: (found?.messages ?? []).map(withText) };
    }),
  );
}

test("keeps the transcript as voice messages of the session's conversation", async () => {
  const ids = { session_id: crypto.randomUUID(), visitor_id: crypto.randomUUID() };
  const { companion, conversationId } = await startSession(ids);
  expect((await deliver(postCallEvent(conversationId, talk))).status).toBe(200);
  const [conversation, ...others] = await readConversations(companion);
  expect(others).toEqual([]);
  expect(conversation).toMatchObject({ sessionId: ids.session_id, visitorId: ids.visitor_id, messageCount: 3 });
  expect(conversation?.messages.map(({ role, channel, text, complete }) => [role, channel, text, complete])).toEqual([
    ["assistant", "voice", "Hi, I'm Ada.", true],
    ["user", "voice", "My name is Grace.", true],
    ["assistant", "voice", "Nice to meet you, Gra", false],
  ]);
});

test("includes what was said in a later text turn of the conversation", async () => {
  const { companion, sessionId, conversationId } = await startSession();
  await deliver(postCallEvent(conversationId, talk));
  await write(companion.embedToken, sessionId, "What is my name?");
  expect(lastPrompt()).toEqual([
    { role: "user", content: "My name is Grace." },
    { role: "assistant", content: "Nice to meet you, Gra" },
    { role: "user", content: "What is my name?" },
  ]);
});

test("puts what was said before what was written later, though it is delivered after that", async () => {
  const { companion, sessionId, conversationId } = await startSession();
  const event = postCallEvent(conversationId, [{ role: "user", message: "Spoken" }]);
  await write(companion.embedToken, sessionId, "Written");
  await deliver(event);
  const [conversation] = await readConversations(companion);
  expect(conversation?.messages.map((message) => message.text).slice(0, 2)).toEqual(["Spoken", "Written"]);
  await write(companion.embedToken, sessionId, "And now?");
  expect(lastPrompt().map(({ content }) => content)).toEqual(["Spoken", "Written", expect.any(String), "And now?"]);
});

test("stores a transcript once, however often and however simultaneously it is delivered", async () => {
  const { companion, conversationId } = await startSession();
  const event = postCallEvent(conversationId, talk);
  const responses = await Promise.all(Array.from({ length: 8 }, () => deliver(event)));
  expect(responses.map((response) => response.status)).toEqual(Array(8).fill(200));
  expect((await deliver(postCallEvent(conversationId, [...talk, ...talk]))).status).toBe(200);
  const [conversation] = await readConversations(companion);
  expect(conversation?.messages.length).toBe(3);
});

test("trusts no id but the conversation's, and ignores calls that are not ours", async () => {
  const { companion, conversationId } = await startSession();
  const victim = await startSession();
  const forged = {
    agent_id: server.voice.sessions.at(-1)?.agentId,
    user_id: victim.sessionId,
    conversation_initiation_client_data: {
      user_id: victim.sessionId,
      dynamic_variables: { session_id: victim.sessionId, system__conversation_id: victim.conversationId },
    },
  };
  expect((await deliver(postCallEvent("conv_of_nobody", talk, forged))).status).toBe(200);
  expect((await deliver(postCallEvent(conversationId, talk, forged))).status).toBe(200);
  expect(await readConversations(victim.companion)).toEqual([]);
  expect((await readConversations(companion)).length).toBe(1);
});

test("orders messages by their time, and trusts no wrong clock", async () => {
  const { companion, conversationId } = await startSession();
  await deliver(postCallEvent(conversationId, talk, {}, 4_000_000_000));
  const [conversation] = await readConversations(companion);
  const times = conversation?.messages.map((message) => message.createdAt) ?? [];
  expect(times).toEqual(times.toSorted((first, second) => first - second));
  expect(Math.max(...times)).toBeLessThanOrEqual(Date.now());
  expect(conversation?.messages.map((message) => message.text)).toEqual(talk.map((turn) => turn.message ?? ""));
});

test("creates no conversation for a call in which nobody spoke", async () => {
  const { companion, conversationId } = await startSession();
  expect((await deliver(postCallEvent(conversationId, [{ role: "agent", message: null }]))).status).toBe(200);
  expect(await readConversations(companion)).toEqual([]);
});

test("drops the transcript of a companion that was deleted meanwhile", async () => {
  const { companion, conversationId } = await startSession();
  await server.services.store.companions.delete(companion.accountId, companion.id, testContext());
  expect((await deliver(postCallEvent(conversationId, talk))).status).toBe(200);
  expect(await readConversations(companion)).toEqual([]);
});

test("drops the transcript of a visitor who was erased meanwhile", async () => {
  const visitorId = crypto.randomUUID();
  const { companion, conversationId } = await startSession({ visitor_id: visitorId });
  const { accountId, id } = companion;
  await server.services.store.conversations.eraseVisitors(accountId, id, [visitorId], testContext());
  expect((await deliver(postCallEvent(conversationId, talk))).status).toBe(200);
  expect(await readConversations(companion)).toEqual([]);
});

test("answers 401 without a genuine signature, and keeps nothing", async () => {
  const { companion, conversationId } = await startSession();
  const event = postCallEvent(conversationId, talk);
  const hourAgo = Math.floor(Date.now() / 1000) - 3600;
  for (const signature of ["", signDelivery("wsec_other", event), signDelivery(webhookSecret, event, hourAgo)]) {
    const response = await deliver(event, signature);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).not.toBeNull();
    expect(await response.json()).toMatchObject({ code: "unauthorized" });
  }
  expect(await readConversations(companion)).toEqual([]);
});

test("accepts 8 MiB, and answers 413 to more", async () => {
  const padded = (length: number) => {
    const event = postCallEvent("conv_of_nobody", []);
    return event.replace(/\}$/, `,"padding":"${"x".repeat(length - event.length - 13)}"}`);
  };
  const limit = 8 * 1024 * 1024;
  const largest = padded(limit);
  expect(largest.length).toBe(limit);
  expect((await deliver(largest)).status).toBe(200);
  expect((await deliver(`${largest} `)).status).toBe(413);
});

test("has no such route without the secret", async () => {
  const closed = await startTestServer();
  const event = postCallEvent("conv_1", talk);
  expect((await deliver(event, signDelivery(webhookSecret, event), closed.url)).status).toBe(404);
  await closed.close();
});
