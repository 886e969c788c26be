/** `POST /api/embed/{token}/voice-token`, with whole requests. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createApp } from "../../src/app/app.ts";
import { createVoice } from "../../src/core/voice/voice.ts";
import { createElevenLabs } from "../../src/engines/elevenlabs/elevenlabs.ts";
import { contextOf, noteContext } from "../../src/http/request-context.ts";
import { toUtcDay } from "../../src/lib/clock.ts";
import { startTestServer, testContext } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { leakMarker } from "../support/mock-elevenlabs.ts";
import { startVoiceServer, type VoiceServer } from "../support/voice-server.ts";

let server: VoiceServer;
beforeAll(async () => {
  server = await startVoiceServer();
});
beforeEach(() => server.voice.heal());
afterAll(() => server.close());

const sessionId = "0b5ad7c2-7a55-4f0e-9d51-0fb7f9ad8d11";
const visitorId = "5E7B1A6C-1F4B-4C0B-8C70-7D7B4C2E9A10";

test("answers with the provider's URL byte for byte and the agent's id, and nothing else", async () => {
  const { embedToken } = await server.createCompanion({ voiceId: "voice-1" });
  const response = await server.askVoiceToken(embedToken);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("cache-control")).toBe("no-store");
  const session = server.voice.sessions.at(-1);
  expect(await response.text()).toBe(JSON.stringify({ signed_url: session?.signedUrl, agent_id: session?.agentId }));
});

test("accepts a body with session and visitor, or none at all", async () => {
  const { embedToken } = await server.createCompanion({ voiceId: "voice-1" });
  const asked = await server.askVoiceToken(embedToken, { session_id: sessionId.toUpperCase(), visitor_id: visitorId });
  expect(asked.headers.get("x-session-id")).toBe(sessionId);
  const conversationId = server.voice.sessions.at(-1)?.conversationId ?? "";
  expect(await server.services.store.voice.findSession(conversationId)).toMatchObject({
    sessionId,
    visitorId: visitorId.toLowerCase(),
  });
  for (const headers of [{}, { "content-type": "application/json" }, { "content-type": "text/plain" }]) {
    const response = await server.askVoiceToken(embedToken, undefined, headers);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-session-id")).toMatch(/^[0-9a-f-]{36}$/);
  }
});

const refusedBodies: [string, number, RequestInit][] = [
  ["a body that is no JSON", 400, { body: "{", headers: { "content-type": "application/json" } }],
  ["a body that is no object", 400, { body: "null", headers: { "content-type": "application/json" } }],
  ["a malformed id", 400, { body: '{"session_id":"1"}', headers: { "content-type": "application/json" } }],
  ["another content type", 415, { body: "{}", headers: { "content-type": "text/plain" } }],
  ["65 KiB", 413, { body: " ".repeat(65 * 1024), headers: { "content-type": "application/json" } }],
];
for (const [name, status, init] of refusedBodies) {
  test(`answers ${status} to ${name}, before any call to the provider`, async () => {
    const { embedToken } = await server.createCompanion({ voiceId: "voice-1" });
    const before = server.voice.requests.length;
    const url = `${server.url}/api/embed/${embedToken}/voice-token`;
    expect((await fetch(url, { method: "POST", ...init })).status).toBe(status);
    expect(server.voice.requests.length).toBe(before);
  });
}

test("says the same in the public configuration as the voice token does", async () => {
  const settings = [{}, { voiceId: "voice-1" }, { voiceAgentId: "agent_own" }];
  server.voice.agents.set("agent_own", { name: "", prompt: "", firstMessage: "", voiceId: "", isAuthRequired: true });
  const keyless = await startTestServer();
  for (const place of [server, keyless]) {
    const operator = await place.createAccount({ role: "operator" });
    for (const setting of settings) {
      const { embedToken } = await place.createCompanion(setting, operator);
      const config = (await (await fetch(`${place.url}/api/embed/${embedToken}`)).json()) as Record<string, unknown>;
      const asked = await fetch(`${place.url}/api/embed/${embedToken}/voice-token`, { method: "POST" });
      const hasVoice = place === server && Object.keys(setting).length > 0;
      expect(config).toMatchObject({
        has_voice: hasVoice,
        voice_provider: hasVoice ? "elevenlabs-convai" : "none",
      });
      expect(asked.status).toBe(hasVoice ? 200 : 400);
      if (!hasVoice) expect(await asked.json()).toMatchObject({ code: "voice_not_configured" });
    }
  }
  await keyless.close();
});

test("has the same guards as chat", async () => {
  const { embedToken } = await server.createCompanion({
    voiceId: "voice-1",
    allowedOrigins: ["https://shop.example"],
  });
  const ask = (origin: string) => server.askVoiceToken(embedToken, undefined, { origin });
  const refused = await ask("https://evil.example");
  expect(refused.status).toBe(403);
  expect(refused.headers.get("access-control-allow-origin")).toBe("https://evil.example");
  const allowed = await ask("https://shop.example");
  expect(allowed.status).toBe(200);
  expect(allowed.headers.get("ratelimit")).toContain('"token"');
  expect((await server.askVoiceToken(`emb_${"x".repeat(32)}`)).status).toBe(404);
  const limited = await startVoiceServer({ voice: server.voice, environment: { COMPANIOND_RATE_PER_TOKEN: "1" } });
  const other = await limited.createCompanion({ voiceId: "voice-1" });
  expect((await limited.askVoiceToken(other.embedToken)).status).toBe(200);
  const over = await limited.askVoiceToken(other.embedToken);
  expect(over.status).toBe(429);
  expect(over.headers.get("retry-after")).not.toBeNull();
  await limited.close();
});

test("counts sessions in usage, and none that failed", async () => {
  const companion = await server.createCompanion({ voiceId: "voice-1" });
  await server.askVoiceToken(companion.embedToken);
  await server.askVoiceToken(companion.embedToken, { session_id: sessionId });
  server.voice.setConversationIds(false);
  expect((await server.askVoiceToken(companion.embedToken)).status).toBe(200);
  server.voice.setConversationIds(true);
  server.voice.fail({ kind: 400 });
  expect((await server.askVoiceToken(companion.embedToken)).status).toBe(502);
  const day = toUtcDay(Date.now());
  const rows = await server.services.store.usage.query(companion.accountId, {
    fromDay: day,
    toDay: toUtcDay(Date.now()),
    groupBy: [],
    companionId: companion.id,
    metadata: [],
  });
  expect(rows[0]).toMatchObject({ voiceSessions: 3, messages: 0 });
});

for (const kind of [401, 422, 500, "cut", "html"] as const) {
  test(`answers 502 without a word of the provider's when it fails with ${kind}`, async () => {
    const { embedToken } = await server.createCompanion({ voiceId: "voice-1", systemPrompt: "the secret pineapple" });
    server.voice.fail({ kind });
    const response = await server.askVoiceToken(embedToken);
    const text = await response.text();
    expect(response.status).toBe(502);
    expect(JSON.parse(text)).toMatchObject({ code: "upstream_error" });
    expect(text).not.toContain(leakMarker);
    expect(text).not.toContain(server.voice.url);
    for (const secret of [server.voice.apiKey, "pineapple", embedToken]) {
      expect(text).not.toContain(secret);
      expect(server.log.text()).not.toContain(secret);
    }
  });
}

test("answers 502 after the deadline when the provider does not respond", async () => {
  const { store, clock, ids } = server.services;
  const provider = createElevenLabs({ apiKey: server.voice.apiKey, baseUrl: server.voice.url });
  const voice = createVoice({ provider, readers: [], store, clock, ids, log: server.log, deadlineMs: 100 });
  for (const operation of ["create", "session"] as const) {
    const companion = await server.createCompanion({ voiceId: "voice-1" });
    server.voice.fail({ kind: "slow", operation });
    const session = voice.openSession(companion, new AbortController().signal);
    await expect(session).rejects.toMatchObject({ code: "upstream_error" });
    server.voice.heal();
  }
  await voice.close();
});

test("asks the provider for nothing more once spending is stopped, in mid-attempt or before", async () => {
  const { spending } = server.services.store;
  for (const operation of ["create", "session"] as const) {
    const companion = await server.createCompanion({ voiceId: "voice-1" });
    const [before, attempts] = [server.voice.count(operation), server.voice.count("session")];
    server.voice.fail({ kind: 500, operation: "session" });
    const goOn = server.voice.hold(operation);
    const asked = server.askVoiceToken(companion.embedToken);
    await eventually(() => server.voice.count(operation) > before);
    await spending.stop(companion.accountId, testContext());
    goOn();
    expect(await (await asked).json()).toMatchObject({ status: 503, code: "unavailable" });
    expect(server.voice.count("session") - attempts).toBe(operation === "session" ? 1 : 0);
    await spending.start(companion.accountId, testContext());
    server.voice.heal();
  }
});

test("holds the connection for longer than the provider may take", async () => {
  const { embedToken } = await server.createCompanion({ voiceId: "voice-1" });
  const request = new Request(`http://localhost/api/embed/${embedToken}/voice-token`, { method: "POST" });
  const silences: number[] = [];
  const facts = contextOf(request, server.services.ids);
  noteContext(request, { ...facts, allowSilence: (seconds) => silences.push(seconds) });
  expect((await createApp(server.services).fetch(request)).status).toBe(200);
  expect(silences).toEqual([30]);
});

/** How many of this many concurrent requests get a URL; the daily quota refuses the others. */
async function countAdmitted(place: VoiceServer, token: string, asked: number): Promise<number> {
  const responses = await Promise.all(Array.from({ length: asked }, () => place.askVoiceToken(token)));
  const refused = responses.filter(({ status }) => status === 429);
  for (const response of refused) {
    expect(await response.json()).toMatchObject({ code: "quota_exceeded" });
    expect(Number(response.headers.get("retry-after"))).toBeWithin(1, 86_401);
  }
  const admitted = responses.filter(({ status }) => status === 200);
  expect(admitted.length + refused.length).toBe(asked);
  return admitted.length;
}

const daily = { COMPANIOND_DAILY_VOICE_FREE: "3", COMPANIOND_DAILY_VOICE_PAID: "5" };

test("admits a day's sessions by plan, however many ask at once, and over a restart", async () => {
  const limited = await startVoiceServer({ voice: server.voice, environment: daily, isShared: true });
  for (const [plan, limit] of [
    ["free", 3],
    ["paid", 5],
  ] as const) {
    const account = await limited.createAccount({ plan });
    const { id, embedToken } = await limited.createCompanion({ voiceId: "voice-1" }, account);
    const before = server.voice.sessions.length;
    expect(await countAdmitted(limited, embedToken, 20)).toBe(limit);
    expect(server.voice.sessions.length).toBe(before + limit);
    expect(await limited.services.store.voice.countDay(id, toUtcDay(Date.now()))).toBe(limit);
    const { dataDir } = limited;
    const restarted = await startVoiceServer({
      voice: server.voice,
      environment: daily,
      dataDir,
      isShared: true,
    });
    expect(await countAdmitted(restarted, embedToken, 2)).toBe(0);
    await restarted.close();
  }
  await limited.close();
});

test("counts sessions separately from messages, and from zero each UTC day", async () => {
  const limited = await startVoiceServer({
    voice: server.voice,
    environment: { ...daily, COMPANIOND_DAILY_FREE: "1" },
  });
  const { embedToken } = await limited.createCompanion({ voiceId: "voice-1" });
  expect(await countAdmitted(limited, embedToken, 4)).toBe(3);
  const say = () =>
    fetch(`${limited.url}/api/embed/${embedToken}/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ message: "hello" }),
    });
  expect((await say()).status).toBe(200);
  expect((await say()).status).toBe(429);
  limited.advance(86_400_000);
  expect(await countAdmitted(limited, embedToken, 4)).toBe(3);
  await limited.close();
});

test("gives back a session that the provider refused", async () => {
  const limited = await startVoiceServer({ voice: server.voice, environment: daily, isShared: true });
  const { embedToken } = await limited.createCompanion({ voiceId: "voice-1" });
  server.voice.fail({ kind: 500 });
  for (let count = 0; count < 5; count++) expect((await limited.askVoiceToken(embedToken)).status).toBe(502);
  server.voice.heal();
  expect(await countAdmitted(limited, embedToken, 5)).toBe(3);
  await limited.close();
});

test("reports a companion without a voice as such, whatever is left of its quota", async () => {
  const limited = await startVoiceServer({ voice: server.voice, environment: daily, isShared: true });
  const companion = await limited.createCompanion({ voiceId: "voice-1" });
  expect(await countAdmitted(limited, companion.embedToken, 4)).toBe(3);
  await limited.updateCompanion(companion, { voiceId: null });
  expect(await (await limited.askVoiceToken(companion.embedToken)).json()).toMatchObject({
    code: "voice_not_configured",
  });
  await limited.close();
});
