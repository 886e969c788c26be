/** A shop with companions, visitors and a team, as a month of use leaves them: what the pictures show. */
import { SignJWT } from "jose";
import { type ApiClient, apiClient } from "../../test/support/api-client.ts";
import { openDashboardWorld, password } from "../../test/support/dashboard-world.ts";
import { eventually } from "../../test/support/eventually.ts";
import { startMockElevenLabs } from "../../test/support/mock-elevenlabs.ts";
import { wholeStream } from "../../test/support/mock-llm-replies.ts";
import { type MockVoiceSocket, startMockVoiceSocket } from "../../test/support/mock-voice-socket.ts";
import { answerTo, furtherSources, questions } from "./said.ts";

export interface ScreenshotWorld extends AsyncDisposable {
  server: { url: string };
  companion: { id: string; embed_token: string };
  /** With an appearance of its own. */
  tinted: { embed_token: string };
  /** With a voice. */
  speaking: { embed_token: string };
  /** The voice's own end of all calls. */
  voiceSocket: MockVoiceSocket;
  /** A rich one, by a signed-in visitor. */
  conversation: { id: string };
  /** The owner's session, who is an operator too. */
  cookie: { name: string; value: string; url: string; httpOnly: boolean; sameSite: "Lax" };
  /** Of another origin, with the widget on it; `?token=` names another companion than the first. */
  shopUrl: string;
}

/** Resolves once everything has been said. */
export async function openScreenshotWorld(): Promise<ScreenshotWorld> {
  const provider = await startMockElevenLabs();
  const voiceSocket = startMockVoiceSocket();
  provider.setSocketUrl(voiceSocket.url);
  const world = await openDashboardWorld({
    ELEVENLABS_API_KEY: provider.apiKey,
    ELEVENLABS_BASE_URL: provider.url,
    COMPANIOND_PRICES: JSON.stringify({ "test-model": { input: 0.4, output: 1.6 } }),
  });
  const email = "owner@shop.example";
  await world.createAccount(email, "operator");
  const client = apiClient(world.server.url, null);
  const signedIn = await fetch(`${world.server.url}/api/session`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: world.server.url },
    body: JSON.stringify({ email, password }),
  });
  const [name = "", value = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";")[0]?.split("=") ?? [];
  const api: ApiClient = {
    call: (method, path, body) => client.call(method, path, body, { Cookie: `${name}=${value}` }),
  };
  const make = async (path: string, body: object) => {
    const { status, json, text } = await api.call("POST", path, body);
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
    return json;
  };
  const companion = await make("/api/companions", {
    name: "Berta",
    greeting: "Hi, I'm Berta. Ask me about bicycles, orders and repairs.",
    system_prompt: "You help the customers of a bicycle shop. Be brief and friendly.",
    theme_color: "#0f766e",
    starters: ["Where is my order?", "How do returns work?", "Do you repair e-bikes?"],
    visitor_auth: "optional",
    ratings: true,
    ask_resolved: true,
    handoff: { mode: "any", when: "always" },
    leads: { when: "always", consent_text: "You may write to me about my question.", reply_to: "team@shop.example" },
    metadata: { plan: "pro", shop: { id: 42 } },
  });
  await make("/api/companions", { name: "مساعد المتجر", theme_color: "#be123c", enabled: false });
  const tinted = await make("/api/companions", {
    name: "Workshop helper",
    theme_color: "#1e3a8a",
    appearance: {
      header: "tinted",
      icon: "avatar",
      teaser: { text: "Questions about sizes? Ask me!", after_seconds: 0 },
    },
  });
  const speaking = await make("/api/companions", { name: "Hotline", theme_color: "#7c3aed", voice_id: "voice_1" });
  const base = `/api/companions/${companion.id}`;
  await make(`${base}/embed-tokens`, { name: "Landing page" });
  await make(`${base}/sources`, {
    type: "text",
    title: "Opening hours",
    text: "We are open from nine to six, on Saturdays until two.",
  });
  await make(`${base}/sources`, {
    type: "text",
    title: "Returns",
    text: "You can send most items back within 30 days. Label and refund are free.",
  });
  for (const source of furtherSources) await make(`${base}/sources`, { type: "text", ...source });
  await make(`${base}/sources`, { type: "url", url: "http://10.0.0.1/inside", refresh_hours: 24 });
  await make(`${base}/tools`, {
    name: "find_order",
    description: "Finds an order by its number.",
    url: "https://shop.example/orders",
  });
  await make("/api/keys", { name: "Billing server", scopes: ["companions:read", "usage:read"] });
  await make("/api/webhooks", { url: "https://shop.example/events", events: ["*"], enabled: false });
  await make("/api/budgets", { limit_usd: 50, scope: "account" }).catch(() => {});
  const key = await make("/api/visitor-keys", { name: "Shop", algorithm: "HS256" });
  await make("/api/members", { email: "grace@shop.example", name: "Grace", role: "responder" });
  await world.createAccount("another@shop.example");

  await eventually(
    async () => {
      const sources = (await api.call("GET", `${base}/sources`)).json.data;
      return sources.every(({ status }) => status === "ready" || status === "failed");
    },
    { what: "the sources are read", everyMs: 100 },
  );
  world.mockLlm.respond(async (request, response) => {
    for (const part of wholeStream(answerTo(request.userText).split(/(?<=\s)/))) await response.write(part);
    response.end();
  });
  const visitor = apiClient(world.server.url, null);
  const chat = async (message: string, fields: object, name?: string) => {
    const headers: Record<string, string> = {};
    if (name !== undefined) {
      const token = await new SignJWT({ name, email: `${name.split(" ")[0]?.toLowerCase()}@example.com` })
        .setProtectedHeader({ alg: "HS256", kid: key.id })
        .setSubject(name)
        .setAudience(companion.id)
        .setIssuedAt()
        .setExpirationTime("10m")
        .sign(new TextEncoder().encode(String(key.secret)));
      headers["X-Visitor-Token"] = token;
    }
    const { status, text } = await visitor.call(
      "POST",
      `/api/embed/${companion.embed_token}/chat`,
      { message, ...fields },
      headers,
    );
    if (status !== 200) throw new Error(`chat: ${status} ${text}`);
  };
  let contacts = 0;
  for (const { visitor: who, said, rating, contact } of questions) {
    const ids = { session_id: crypto.randomUUID(), visitor_id: crypto.randomUUID() };
    for (const message of said) {
      const message_id = crypto.randomUUID();
      await chat(message, { ...ids, message_id }, who);
      if (rating !== undefined && who === undefined)
        await visitor.call("PUT", `/api/embed/${companion.embed_token}/ratings/${message_id}`, { ...ids, rating });
    }
    if (contact)
      await visitor.call("POST", `/api/embed/${companion.embed_token}/contact`, {
        ...ids,
        ...{ email: `guest-${++contacts}@example.com`, name: "Jo Miller", message: said[0], consent: true },
      });
  }
  const { data } = (await api.call("GET", "/api/conversations?limit=50")).json;
  const conversation = data.find((each) => Number(each["message_count"]) >= 6) ?? data[0];
  if (conversation === undefined) throw new Error("Nothing was said.");
  await api.call("POST", `/api/conversations/${conversation.id}/notes`, {
    text: "Parcel 4711, ask the carrier on Monday.",
  });

  const site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) =>
      new Response(
        shopPage(world.server.url, new URL(request.url).searchParams.get("token") ?? companion.embed_token),
        {
          headers: { "Content-Type": "text/html; charset=utf-8" },
        },
      ),
  });
  return {
    server: world.server,
    ...{ companion, tinted, speaking, voiceSocket, conversation },
    cookie: { name, value, url: world.server.url, httpOnly: true, sameSite: "Lax" },
    shopUrl: site.url.href,
    async [Symbol.asyncDispose]() {
      await site.stop(true);
      await voiceSocket.close();
      await provider.close();
      await world[Symbol.asyncDispose]();
    },
  };
}

function shopPage(url: string, token: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Shop</title>
<style>body{margin:0;font:16px/1.5 system-ui;background:#fff;color:#222}header{padding:24px;background:#f4efe6}main{padding:24px;max-width:720px}</style></head>
<body><header><b>Velo Berta</b></header><main><h1>City bicycles</h1><p>Light, quiet, and ready for rain. Every bicycle leaves our workshop with a year of free service.</p></main>
<script src="${url}/widget.js" data-token="${token}" async></script></body></html>`;
}
