/** What the management API lets a companion's voice fields hold: one provider key serves all accounts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ApiClient, apiClient, expectProblem } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { startVoiceServer, type VoiceServer } from "../support/voice-server.ts";

let server: VoiceServer;
beforeAll(async () => {
  server = await startVoiceServer();
});
afterAll(() => server.close());

async function openAccount(): Promise<ApiClient> {
  const { key } = await server.createKey(await server.createAccount());
  return apiClient(server.url, key);
}

let made = 0;
function newAgent(): string {
  made++;
  const agentId = `agent_of_owner_${made}`;
  server.voice.agents.set(agentId, { name: "", prompt: "", firstMessage: "", voiceId: "", isAuthRequired: true });
  return agentId;
}

test("takes either field, and refuses both at once, also when the second comes later", async () => {
  const api = await openAccount();
  const agent = newAgent();
  const both = { name: "Ada", voice_id: "voice-1", voice_agent_id: agent };
  const refused = expectProblem(await api.call("POST", "/api/companions", both), 400, "invalid_request");
  expect(refused.json.errors.map(({ param }) => param)).toContain("voice_agent_id");
  const companion = await api.call("POST", "/api/companions", { name: "Ada", voice_id: "voice-1" });
  expect(companion.json).toMatchObject({ voice_id: "voice-1", voice_agent_id: null });
  const path = `/api/companions/${companion.json.id}`;
  expectProblem(await api.call("PATCH", path, { voice_agent_id: agent }), 400, "invalid_request");
  const swapped = await api.call("PATCH", path, { voice_id: null, voice_agent_id: agent });
  expect(swapped.json).toMatchObject({ voice_id: null, voice_agent_id: agent });
});

test("deletes the agent that the server kept when the owner names one instead", async () => {
  const api = await openAccount();
  const companion = await api.call("POST", "/api/companions", { name: "Ada", voice_id: "voice-1" });
  const kept = (await (await server.askVoiceToken(companion.json.embed_token)).json()) as { agent_id: string };
  const own = newAgent();
  const patch = { voice_id: null, voice_agent_id: own };
  expect((await api.call("PATCH", `/api/companions/${companion.json.id}`, patch)).status).toBe(200);
  const next = (await (await server.askVoiceToken(companion.json.embed_token)).json()) as { agent_id: string };
  expect(next.agent_id).toBe(own);
  await eventually(() => !server.voice.agents.has(kept.agent_id));
  expect(server.voice.agents.has(own)).toBe(true);
});

test("refuses an agent that the server keeps, which every visitor sees, to its own account too", async () => {
  const [api, stranger] = [await openAccount(), await openAccount()];
  const companion = await api.call("POST", "/api/companions", { name: "Ada", voice_id: "voice-1" });
  const { agent_id } = (await (await server.askVoiceToken(companion.json.embed_token)).json()) as { agent_id: string };
  for (const account of [api, stranger]) {
    const refused = await account.call("POST", "/api/companions", { name: "Thief", voice_agent_id: agent_id });
    expectProblem(refused, 400, "invalid_request");
  }
});

test("binds an owner's agent to one account, which may use it for several companions", async () => {
  const [api, stranger] = [await openAccount(), await openAccount()];
  const body = { name: "Ada", voice_agent_id: newAgent() };
  const first = await api.call("POST", "/api/companions", body);
  const second = await api.call("POST", "/api/companions", body);
  expect([first.status, second.status]).toEqual([201, 201]);
  const refused = expectProblem(await stranger.call("POST", "/api/companions", body), 400, "invalid_request");
  // Which accounts use which agents is nobody else's business.
  expect(refused.text).not.toContain(first.json.id);
  for (const { json } of [first, second]) await api.call("DELETE", `/api/companions/${json.id}`);
  expect((await stranger.call("POST", "/api/companions", body)).status).toBe(201);
});

test("gives an agent to one of two accounts that ask at the same moment", async () => {
  const accounts = await Promise.all(Array.from({ length: 6 }, openAccount));
  const body = { name: "Ada", voice_agent_id: newAgent() };
  const answers = await Promise.all(accounts.map((account) => account.call("POST", "/api/companions", body)));
  expect(answers.map((answer) => answer.status).toSorted()).toEqual([201, 400, 400, 400, 400, 400]);
});
