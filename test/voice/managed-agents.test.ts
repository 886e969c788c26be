/** The agents that the server keeps at the provider: one per companion, in sync with it, deleted with it. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { checkVoiceFields } from "../../src/core/voice/voice-fields.ts";
import { testContext } from "../support/app.ts";
import { engineEnvironment } from "../support/engine.ts";
import { eventually } from "../support/eventually.ts";
import { startVoiceServer, type VoiceServer } from "../support/voice-server.ts";

let server: VoiceServer;
beforeAll(async () => {
  server = await startVoiceServer({ isShared: true });
});
beforeEach(() => server.voice.heal());
afterAll(() => server.close());

/** A second process on the same database. */
async function startServerProcess(environment: Record<string, string>) {
  const script = new URL("../support/server-process.ts", import.meta.url).pathname;
  const roomyLimits = { COMPANIOND_RATE_PER_IP: "1000000" };
  const child = Bun.spawn([process.execPath, script], {
    env: { ...roomyLimits, ...environment },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  let url = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    url += decoder.decode(chunk, { stream: true });
    if (url.includes("\n")) break;
  }
  return {
    url: url.trim(),
    async [Symbol.asyncDispose]() {
      await child.stdin.end();
      await child.exited;
    },
  };
}

async function agentIdOf(response: Response): Promise<string> {
  const body = (await response.json()) as { agent_id?: string; code?: string };
  if (!body.agent_id) throw new Error(`no agent: ${response.status} ${body.code}`);
  return body.agent_id;
}

test("creates the agent from the companion's settings, once for all sessions", async () => {
  const companion = await server.createCompanion({ name: "Bo", systemPrompt: "Be brief.", voiceId: "voice-1" });
  const before = server.voice.count("create");
  const agentId = await agentIdOf(await server.askVoiceToken(companion.embedToken));
  expect(await agentIdOf(await server.askVoiceToken(companion.embedToken))).toBe(agentId);
  expect(server.voice.count("create") - before).toBe(1);
  expect(server.voice.agents.get(agentId)).toEqual({
    name: "Bo",
    prompt: "Be brief.",
    firstMessage: "Hi, I'm Bo. How can I help you?",
    voiceId: "voice-1",
    isAuthRequired: true,
  });
});

test("makes one agent however many visitors arrive at once", async () => {
  const { embedToken } = await server.createCompanion({ voiceId: "voice-1" });
  const before = server.voice.count("create");
  const letGo = server.voice.hold("create");
  const asked = Array.from({ length: 40 }, () => server.askVoiceToken(embedToken));
  await eventually(() => server.voice.count("create") > before);
  letGo();
  const agentIds = new Set(await Promise.all(asked.map(async (response) => agentIdOf(await response))));
  expect(agentIds.size).toBe(1);
  expect(server.voice.count("create") - before).toBe(1);
});

test("makes one agent when two processes on one database are asked at once", async () => {
  await using second = await startServerProcess({
    COMPANIOND_DATA_DIR: server.dataDir,
    ...(await engineEnvironment(server.dataDir, { isShared: true })),
    ELEVENLABS_API_KEY: server.voice.apiKey,
    ELEVENLABS_BASE_URL: server.voice.url,
  });
  for (let round = 0; round < 5; round++) {
    const { embedToken } = await server.createCompanion({ voiceId: "voice-1" });
    const before = server.voice.count("create");
    const asked = [server.url, second.url, server.url, second.url].map((url) =>
      fetch(`${url}/api/embed/${embedToken}/voice-token`, { method: "POST" }),
    );
    const agentIds = new Set(await Promise.all(asked.map(async (response) => agentIdOf(await response))));
    expect(agentIds.size).toBe(1);
    expect(server.voice.count("create") - before).toBe(1);
  }
});

test("waits for a process that holds the agent's lock, and no longer than its lease if that process has died", async () => {
  const companion = await server.createCompanion({ voiceId: "voice-1" });
  const before = server.voice.count("create");
  const nowMs = Date.now();
  await server.services.store.voice.lockAgent(companion.id, "a process that died", nowMs, nowMs + 3_600_000);
  const asked = server.askVoiceToken(companion.embedToken);
  // Long enough to create an agent without waiting for the lock.
  await server.askVoiceToken((await server.createCompanion({ voiceId: "voice-1" })).embedToken);
  expect(server.voice.count("create") - before).toBe(1);
  server.advance(3_600_001);
  expect((await asked).status).toBe(200);
  expect(server.voice.count("create") - before).toBe(2);
});

test("finishes creating the agent when the visitor who caused it leaves", async () => {
  const { embedToken } = await server.createCompanion({ voiceId: "voice-1" });
  const before = server.voice.count("create");
  const letGo = server.voice.hold("create");
  const visitor = new AbortController();
  const url = `${server.url}/api/embed/${embedToken}/voice-token`;
  const left = fetch(url, { method: "POST", signal: visitor.signal }).catch(() => null);
  await eventually(() => server.voice.count("create") > before);
  const stays = server.askVoiceToken(embedToken);
  visitor.abort();
  await left;
  letGo();
  expect((await stays).status).toBe(200);
  expect(server.voice.count("create") - before).toBe(1);
});

const changes = [
  [{ name: "Cy" }, { name: "Cy" }],
  [{ systemPrompt: "New." }, { prompt: "New." }],
  [{ systemPrompt: null }, { prompt: "" }],
  [{ greeting: "Welcome" }, { firstMessage: "Welcome" }],
  [{ voiceId: "voice-2" }, { voiceId: "voice-2" }],
] as const;
for (const [patch, expected] of changes) {
  test(`gives the agent a changed ${Object.keys(patch)} before the next session, once`, async () => {
    const companion = await server.createCompanion({ name: "Bo", systemPrompt: "Old.", voiceId: "voice-1" });
    const agentId = await agentIdOf(await server.askVoiceToken(companion.embedToken));
    const before = server.voice.count("update");
    await server.updateCompanion(companion, patch);
    expect(await agentIdOf(await server.askVoiceToken(companion.embedToken))).toBe(agentId);
    await server.askVoiceToken(companion.embedToken);
    expect(server.voice.count("update") - before).toBe(1);
    expect(server.voice.agents.get(agentId)).toMatchObject(expected);
  });
}

test("leaves the agent alone when something else of the companion changes", async () => {
  const companion = await server.createCompanion({ voiceId: "voice-1" });
  await server.askVoiceToken(companion.embedToken);
  const before = server.voice.count("update");
  await server.updateCompanion(companion, { themeColor: "#102030", model: "another" });
  expect((await server.askVoiceToken(companion.embedToken)).status).toBe(200);
  expect(server.voice.count("update")).toBe(before);
});

test("recreates an agent that the provider has lost, once, however many requests notice", async () => {
  for (const patch of [{}, { name: "Renamed" }]) {
    const companion = await server.createCompanion({ voiceId: "voice-1" });
    const lost = await agentIdOf(await server.askVoiceToken(companion.embedToken));
    server.voice.agents.delete(lost);
    await server.updateCompanion(companion, patch);
    const before = server.voice.count("create");
    const asked = Array.from({ length: 10 }, () => server.askVoiceToken(companion.embedToken));
    const agentIds = new Set(await Promise.all(asked.map(async (response) => agentIdOf(await response))));
    expect(agentIds.size).toBe(1);
    expect(agentIds.has(lost)).toBe(false);
    expect(server.voice.count("create") - before).toBe(1);
  }
});

test("keeps nothing of an agent that could not be made, and makes it at the next session", async () => {
  const { embedToken } = await server.createCompanion({ voiceId: "voice-1" });
  server.voice.fail({ kind: 500, operation: "create", times: 1 });
  expect((await server.askVoiceToken(embedToken)).status).toBe(502);
  expect((await server.askVoiceToken(embedToken)).status).toBe(200);
});

test("leaves no agent behind when the voice is taken away while the agent is made", async () => {
  const companion = await server.createCompanion({ voiceId: "voice-1" });
  const before = new Set(server.voice.agents.keys());
  const letGo = server.voice.hold("create");
  const made = server.voice.count("create");
  const asked = server.askVoiceToken(companion.embedToken);
  await eventually(() => server.voice.count("create") > made);
  await server.updateCompanion(companion, { voiceId: null });
  letGo();
  expect((await asked).status).toBe(503);
  await eventually(() => [...server.voice.agents.keys()].every((agentId) => before.has(agentId)));
  expect((await server.askVoiceToken(companion.embedToken)).status).toBe(400);
});

test("deletes the agent with its companion, and when the voice is cleared", async () => {
  const companions = [
    await server.createCompanion({ voiceId: "voice-1" }),
    await server.createCompanion({ voiceId: "voice-1" }),
  ] as const;
  const agentIds = await Promise.all(
    companions.map(async ({ embedToken }) => agentIdOf(await server.askVoiceToken(embedToken))),
  );
  await server.services.store.companions.delete(companions[0].accountId, companions[0].id, testContext());
  await server.updateCompanion(companions[1], { voiceId: null });
  await eventually(() => agentIds.every((agentId) => !server.voice.agents.has(agentId)));
  expect((await server.askVoiceToken(companions[0].embedToken)).status).toBe(404);
  expect((await server.askVoiceToken(companions[1].embedToken)).status).toBe(400);
});

test("keeps trying to delete an agent, even after a restart", async () => {
  const companion = await server.createCompanion({ voiceId: "voice-1" });
  const agentId = await agentIdOf(await server.askVoiceToken(companion.embedToken));
  const before = server.voice.count("delete");
  server.voice.fail({ kind: 401, operation: "delete" });
  await server.services.store.companions.delete(companion.accountId, companion.id, testContext());
  await eventually(() => server.log.text().includes("voice agent not deleted yet"));
  expect(server.voice.count("delete") - before).toBe(1);
  server.voice.heal();
  // Another process on the database stands in for the restarted one: what it knows, it knows from there.
  const restarted = await startVoiceServer({ voice: server.voice, dataDir: server.dataDir, isShared: true });
  restarted.advance(2 * 3_600_000);
  await eventually(() => !server.voice.agents.has(agentId));
  await restarted.close();
});

test("never makes, changes or deletes an owner's own agent", async () => {
  server.voice.agents.set("agent_own", {
    name: "Own",
    prompt: "",
    firstMessage: "",
    voiceId: "",
    isAuthRequired: true,
  });
  const operator = await server.createAccount({ role: "operator" });
  const companion = await server.createCompanion({ voiceAgentId: "agent_own" }, operator);
  const before = server.voice.requests.length;
  expect(await agentIdOf(await server.askVoiceToken(companion.embedToken))).toBe("agent_own");
  await server.updateCompanion(companion, { name: "Renamed" });
  await server.askVoiceToken(companion.embedToken);
  await server.services.store.companions.delete(companion.accountId, companion.id, testContext());
  expect(await server.services.store.voice.canUseAgent(operator.id, "agent_own")).toBe(true);
  expect(server.voice.requests.slice(before).map((request) => request.operation)).toEqual(["session", "session"]);
});

test("answers 502 where the owner's own agent is not at the provider", async () => {
  const operator = await server.createAccount({ role: "operator" });
  const { embedToken } = await server.createCompanion({ voiceAgentId: "agent_nowhere" }, operator);
  const before = server.voice.count("create");
  expect((await server.askVoiceToken(embedToken)).status).toBe(502);
  expect(server.voice.count("create")).toBe(before);
});

test("lets no companion take an agent that is managed, or not granted to its account", async () => {
  const managed = await server.createCompanion({ voiceId: "voice-1" });
  const agentId = await agentIdOf(await server.askVoiceToken(managed.embedToken));
  const [owner, operator] = [await server.createAccount(), await server.createAccount({ role: "operator" })];
  await server.grantAgent(owner.id, "agent_granted");
  const { voice } = server.services.store;
  const check = (accountId: string, voiceAgentId: string, voiceId: string | null = null) =>
    checkVoiceFields(voice, accountId, { voiceId, voiceAgentId }, "agent_kept");
  for (const accountId of [managed.accountId, operator.id]) {
    await expect(check(accountId, agentId)).rejects.toMatchObject({ code: "invalid_request" });
  }
  await expect(check(managed.accountId, "agent_granted")).rejects.toMatchObject({ code: "invalid_request" });
  await expect(check(owner.id, "agent_granted", "voice-1")).rejects.toMatchObject({ code: "invalid_request" });
  await check(owner.id, "agent_granted");
  await check(operator.id, "agent_granted");
  await check(managed.accountId, "agent_kept");
});
