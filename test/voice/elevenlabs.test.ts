/** ElevenLabs as a voice provider: the contract, and the requests it makes. */
import { expect, test } from "bun:test";
import { createElevenLabs } from "../../src/engines/elevenlabs/elevenlabs.ts";
import { testVoiceProvider } from "../contracts/voice-provider.ts";
import { startMockElevenLabs } from "../support/mock-elevenlabs.ts";

const noSignal = new AbortController().signal;

async function open(apiKey: string | null, deadlineMs = 10_000) {
  const remote = await startMockElevenLabs();
  const secret = apiKey ?? remote.apiKey;
  const options = { apiKey: secret, baseUrl: remote.url, deadlineMs, retryDelaysMs: [1, 2] };
  return { provider: createElevenLabs(options), remote, secret };
}

testVoiceProvider(
  "ElevenLabs",
  (deadlineMs) => open(null, deadlineMs),
  () => open("sk_of_somebody_else"),
);

test("asks for the conversation id, and escapes the agent's id", async () => {
  const { provider, remote } = await open(null);
  await provider.createSession("a/b?c", noSignal);
  await provider.deleteAgent("a/b?c", noSignal);
  expect(remote.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /v1/convai/conversation/get-signed-url?agent_id=a%2Fb%3Fc&include_conversation_id=true",
    "DELETE /v1/convai/agents/a%2Fb%3Fc",
  ]);
  await remote.close();
});

test("reads the conversation id from the URL if the response has no such field", async () => {
  const { provider, remote } = await open(null);
  const agentId = await provider.createAgent({ name: "A", systemPrompt: "", greeting: "Hi", voiceId: "v" }, noSignal);
  remote.setConversationIds(false);
  expect((await provider.createSession(agentId, noSignal))?.conversationId).toBeNull();
  remote.setSocketUrl("wss://voice.example/talk?conversation_id=conv_in_url&rest=");
  expect((await provider.createSession(agentId, noSignal))?.conversationId).toBe("conv_in_url");
  await remote.close();
});

test("hands out nothing but WebSocket URLs", async () => {
  const { provider, remote } = await open(null);
  const agentId = await provider.createAgent({ name: "A", systemPrompt: "", greeting: "Hi", voiceId: "v" }, noSignal);
  for (const url of ["https://voice.example/talk", "javascript:alert(1)//", "no url"]) {
    remote.setSocketUrl(url);
    await expect(provider.createSession(agentId, noSignal)).rejects.toMatchObject({ code: "upstream_error" });
  }
  await remote.close();
});
