/** Holds that what verified visitors say aloud is kept as theirs. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { postCallEvent, signDelivery } from "../support/elevenlabs-delivery.ts";
import { openVerifiedWorld, type VerifiedWorld } from "../support/verified-world.ts";
import { startVoiceServer, type VoiceServer, webhookSecret } from "../support/voice-server.ts";

let server: VoiceServer;
let world: VerifiedWorld;
beforeAll(async () => {
  server = await startVoiceServer();
  const systemPrompt = "You speak to {{visitor.name}}.";
  world = await openVerifiedWorld({ voiceId: "voice-1", systemPrompt }, async () => server);
});
afterAll(() => server.close());

async function call(token: string | null, body: object): Promise<void> {
  expect((await world.embed("POST", "/voice-token", token, body)).status).toBe(200);
  const { conversationId = "" } = server.voice.sessions.at(-1) ?? {};
  const event = postCallEvent(conversationId, [{ role: "user", message: "I like tea." }]);
  const delivered = await fetch(`${server.url}/api/voice/elevenlabs/webhook`, {
    method: "POST",
    headers: { "content-type": "application/json", "elevenlabs-signature": signDelivery(webhookSecret, event) },
    body: event,
  });
  expect(delivered.status).toBe(200);
}

test("a call's transcript goes to the visitor of its token, whatever visitor_id was sent", async () => {
  const [session_id, visitor_id] = [crypto.randomUUID(), crypto.randomUUID()];
  const token = await world.sign("ada", { name: "Ada" });
  await call(token, { session_id, visitor_id });
  const { data } = (await world.owner.call("GET", "/api/conversations?visitor_sub=ada")).json;
  expect(data).toMatchObject([
    { session_id, visitor_id: null, visitor: { sub: "ada", name: "Ada" }, message_count: 1 },
  ]);
  await world.say(token, { message: "What do I like?", session_id });
  expect(JSON.stringify(world.lastPrompt())).toContain("I like tea.");
  await world.say(null, { message: "What do I like?", session_id, visitor_id });
  expect(JSON.stringify(world.lastPrompt())).not.toContain("I like tea.");
});

test("an anonymous call stays anonymous, until it is taken over", async () => {
  const [session_id, visitor_id] = [crypto.randomUUID(), crypto.randomUUID()];
  await call(null, { session_id, visitor_id });
  const { data } = (await world.owner.call("GET", `/api/conversations?visitor_id=${visitor_id}`)).json;
  expect(data).toMatchObject([{ session_id, visitor_id, visitor: null }]);
  const ben = await world.sign("ben");
  expect((await world.embed("POST", "/visitor/merge", ben, { session_id, visitor_id })).status).toBe(204);
  expect((await world.embed("GET", "/conversations", ben)).json.data).toMatchObject([{ session_id, message_count: 1 }]);
});

test("the voice agent, which speaks with everyone, knows nobody's name", async () => {
  await call(await world.sign("ada", { name: "Grace" }), {});
  const prompts = [...server.voice.agents.values()].map((agent) => JSON.stringify(agent));
  expect(prompts.some((prompt) => prompt.includes("You speak to ."))).toBe(true);
  expect(prompts.join()).not.toMatch(/Grace|\{\{visitor/);
});
