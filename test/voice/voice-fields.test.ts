/** The rules of the management API for a companion's voice fields: one provider key serves all accounts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Account, Role } from "../../src/domain/account.ts";
import { type ApiClient, apiClient, expectInvalid, expectProblem } from "../support/api-client.ts";
import { openDashboard } from "../support/dashboard.ts";
import { eventually } from "../support/eventually.ts";
import { startVoiceServer, type VoiceServer } from "../support/voice-server.ts";

let server: VoiceServer;
beforeAll(async () => {
  server = await startVoiceServer();
});
afterAll(() => server.close());

interface Owner extends ApiClient {
  account: Account;
}

async function openAccount(role: Role = "owner"): Promise<Owner> {
  const account = await server.createAccount({ role });
  return { account, ...apiClient(server.url, (await server.createKey(account)).key) };
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
  await server.grantAgent(api.account.id, agent);
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
  await server.grantAgent(api.account.id, own);
  const patch = { voice_id: null, voice_agent_id: own };
  expect((await api.call("PATCH", `/api/companions/${companion.json.id}`, patch)).status).toBe(200);
  const next = (await (await server.askVoiceToken(companion.json.embed_token)).json()) as { agent_id: string };
  expect(next.agent_id).toBe(own);
  await eventually(() => !server.voice.agents.has(kept.agent_id));
  expect(server.voice.agents.has(own)).toBe(true);
});

test("refuses an agent that the server keeps, which every visitor sees, to its own account and to operators too", async () => {
  const [api, stranger] = [await openAccount(), await openAccount("operator")];
  const companion = await api.call("POST", "/api/companions", { name: "Ada", voice_id: "voice-1" });
  const { agent_id } = (await (await server.askVoiceToken(companion.json.embed_token)).json()) as { agent_id: string };
  for (const account of [api, stranger]) {
    const refused = await account.call("POST", "/api/companions", { name: "Thief", voice_agent_id: agent_id });
    expectProblem(refused, 400, "invalid_request");
  }
});

test("refuses an agent that nobody has granted, however new, to owners; an operator needs no grant", async () => {
  const [api, operator] = [await openAccount(), await openAccount("operator")];
  const body = { name: "Ada", voice_agent_id: newAgent() };
  const refused = expectInvalid(await api.call("POST", "/api/companions", body), ["voice_agent_id"]);
  expect(refused.json.errors[0]?.detail).toContain("the server's operator grants agents");
  const { id } = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  const patch = { voice_agent_id: body.voice_agent_id };
  expectInvalid(await api.call("PATCH", `/api/companions/${id}`, patch), ["voice_agent_id"]);
  expectInvalid(await api.call("PATCH", `/api/companions/${id}`, { name: "", ...patch }), ["name", "voice_agent_id"]);
  expect((await operator.call("POST", "/api/companions", body)).status).toBe(201);
  // This changes nothing for other accounts.
  expectInvalid(await api.call("POST", "/api/companions", body), ["voice_agent_id"]);
});

test("lets an account use a granted agent for several companions, and other accounts the same one", async () => {
  const [api, other] = [await openAccount(), await openAccount()];
  const body = { name: "Ada", voice_agent_id: newAgent() };
  await server.grantAgent(api.account.id, body.voice_agent_id);
  await server.grantAgent(other.account.id, body.voice_agent_id);
  for (const owner of [api, api, other]) expect((await owner.call("POST", "/api/companions", body)).status).toBe(201);
});

test("ends the voice at once when the grant is revoked, and restores it with a new grant", async () => {
  const api = await openAccount();
  const agent = newAgent();
  await server.grantAgent(api.account.id, agent);
  const made = (await api.call("POST", "/api/companions", { name: "Ada", voice_agent_id: agent })).json;
  const config = async () => (await fetch(`${server.url}/api/embed/${made.embed_token}`)).json();
  expect(await config()).toMatchObject({ has_voice: true, voice_provider: "elevenlabs-convai" });
  expect((await server.askVoiceToken(made.embed_token)).status).toBe(200);

  const operator = await openDashboard(server, { role: "operator" });
  const path = `/api/accounts/${api.account.id}/voice-agents`;
  expect((await operator.call("DELETE", `${path}/${agent}`)).status).toBe(204);
  expect(await config()).toMatchObject({ has_voice: false, voice_provider: "none" });
  const before = server.voice.requests.length;
  const refused = await server.askVoiceToken(made.embed_token);
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ code: "voice_not_configured" });
  expect(server.voice.requests).toHaveLength(before);

  // The owner can still send back what was read.
  const read = (await api.call("GET", `/api/companions/${made.id}`)).json;
  expect(read).toMatchObject({ voice_agent_id: agent });
  expect((await api.call("PATCH", `/api/companions/${made.id}`, { ...read, name: "Eve" })).status).toBe(200);
  expect(await config()).toMatchObject({ has_voice: false });
  expectInvalid(await api.call("POST", "/api/companions", { name: "x", voice_agent_id: agent }), ["voice_agent_id"]);

  expect((await operator.call("POST", path, { agent_id: agent })).status).toBe(201);
  expect(await config()).toMatchObject({ has_voice: true });
});
