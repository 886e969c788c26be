/** Nothing that must stay out of the log is in it, after everything was done, and failed, once. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openLog } from "../../src/lib/log.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { startMockElevenLabs } from "../support/mock-elevenlabs.ts";
import { signToken } from "../support/visitor-keys.ts";

/** Each appears only in the place that its name says. */
const canaries = {
  message: "canary-visitors-words-7f3a",
  history: "canary-history-words-91bc",
  prompt: "canary-system-prompt-22de",
  greeting: "canary-greeting-83aa",
  companionName: "canary-companion-name-5512",
  metadata: "canary-metadata-value-6a6a",
  query: "canary-in-a-query-0f0f",
  path: "canary-in-a-path-1e1e",
  header: "canary-in-a-header-2d2d",
  badBody: "canary-in-a-broken-body-3c3c",
  password: "canary-password-4b4b-long-enough",
  keyName: "canary-key-name-5d5d",
  search: "canary-search-text-6e6e",
  providerKey: "sk-canary-provider-key-0123456789",
  metricsToken: "canary-metrics-token-8787",
  reply: "canary-reply-of-the-model-9898",
  visitorSub: "canary-visitors-sub-1212",
  visitorName: "canary-visitors-name-3434",
  visitorEmail: "canary-visitor-5656@example.com",
  visitorPlan: "canary-visitors-plan-7878",
  toolHeader: "canary-header-of-a-tool-1313",
  toolTitle: "canary-title-of-a-tool-2424",
};
const clientIp = "203.0.113.77";

let server: TestServer;
let written = "";
const secrets: string[] = [];

beforeAll(async () => {
  const { log, flush } = openLog({ level: "debug", format: "json", write: (lines) => (written += lines) });
  const voice = await startMockElevenLabs();
  server = await startTestServer({
    log,
    environment: {
      OPENAI_API_KEY: canaries.providerKey,
      COMPANIOND_METRICS_TOKEN: canaries.metricsToken,
      COMPANIOND_TRUST_PROXY: "1",
      ELEVENLABS_API_KEY: voice.apiKey,
      ELEVENLABS_BASE_URL: voice.url,
    },
  });
  await live();
  await server.close();
  await voice.close();
  flush();
});

afterAll(() => {
  written = "";
});

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { "content-type": "application/json", "x-forwarded-for": clientIp, "x-note": canaries.header, ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return await response.text().catch(() => "");
}

async function live(): Promise<void> {
  const account = await server.createAccount({ email: "canary@example.com" });
  const { key } = await server.createKey(account);
  const bearer = { authorization: `Bearer ${key}` };
  const made = await call(
    "POST",
    "/api/companions",
    {
      name: canaries.companionName,
      system_prompt: `${canaries.prompt} {{visitor.name}} {{visitor.email}} {{visitor.attributes.plan}}`,
      visitor_auth: "optional",
      greeting: canaries.greeting,
      metadata: { note: canaries.metadata },
      voice_id: "a-voice",
    },
    { ...bearer, "idempotency-key": canaries.header },
  );
  const companion = JSON.parse(made);
  const token: string = companion.embed_token;
  secrets.push(key, token);
  const chat = (message: unknown, more: object = {}) => call("POST", `/api/embed/${token}/chat`, { message, ...more });

  await chat(`${canaries.message} [[say:${canaries.reply}]]`);
  for (const trouble of [
    "fail:400",
    "fail:401",
    "fail:404",
    "fail:500",
    "html",
    "cut:1",
    "reset:1",
    "garbage:1",
    "error:1",
  ]) {
    await chat(`${canaries.message} [[words:4]][[${trouble}]]`);
  }
  // Providers quote what they refuse.
  server.mockLlm.respond((request, response) =>
    response.send(
      400,
      { "Content-Type": "application/json" },
      JSON.stringify({ error: { message: request.userText } }),
    ),
  );
  await chat(`${canaries.message} quoted`);
  await beKnown(companion, bearer);
  server.mockLlm.respond(null);

  await chat(42);
  await chat(`${canaries.badBody}\u0000`);
  await chat(canaries.badBody.repeat(200));
  await call("POST", `/api/embed/${token}/chat`, `{"message":"${canaries.badBody}`);
  await call("POST", `/api/embed/${token}/chat`, { message: canaries.message, session_id: canaries.badBody });
  await call("GET", `/api/embed/${token}?${canaries.query}=1`);
  await call("POST", `/api/embed/${token}/voice-token`);
  await call("GET", `/${canaries.path}/${token}`);
  await call("GET", `/api/embed/${canaries.path}`);
  await call(
    "POST",
    `/api/companions/${companion.id}/test-chat`,
    {
      message: canaries.message,
      history: [{ role: "user", text: canaries.history }],
    },
    bearer,
  );
  await call("POST", "/api/companions", { name: null, [canaries.badBody]: 1, system_prompt: canaries.prompt }, bearer);
  await call("POST", "/api/companions", `{"name": "${canaries.badBody}`, bearer);
  await call(
    "PATCH",
    `/api/companions/${companion.id}`,
    { system_prompt: canaries.prompt, metadata: { a: canaries.metadata } },
    bearer,
  );
  await call("GET", `/api/companions?q=${canaries.search}&metadata.note=${canaries.metadata}`, undefined, bearer);
  await call("GET", `/api/conversations?q=${canaries.search}`, undefined, bearer);
  const listed = JSON.parse(await call("GET", "/api/conversations", undefined, bearer));
  await call("GET", `/api/conversations/${listed.data[0].id}`, undefined, bearer);
  const madeKey = JSON.parse(
    await call("POST", "/api/keys", { name: canaries.keyName, scopes: ["companions:read"] }, bearer),
  );
  secrets.push(madeKey.key);
  await call("GET", "/api/companions", undefined, { authorization: `Bearer ${madeKey.key}x` });
  await call("DELETE", `/api/keys/${madeKey.id}`, undefined, bearer);
  await call(
    "POST",
    "/api/session",
    { email: "canary@example.com", password: canaries.password },
    { origin: server.url },
  );
  await call("GET", "/metrics", undefined, { authorization: `Bearer ${canaries.metricsToken}` });
  await call("GET", "/metrics", undefined, { authorization: `Bearer ${canaries.metricsToken}x` });
  await manageTools(companion, bearer);
  await call("DELETE", `/api/conversations/${listed.data[0].id}`, undefined, bearer);
  await call("DELETE", `/api/companions/${companion.id}`, undefined, bearer);
}

async function manageTools(companion: { id: string }, bearer: Record<string, string>): Promise<void> {
  const path = `/api/companions/${companion.id}/tools`;
  const { toolHeader, toolTitle: title, badBody } = canaries;
  const headers = { authorization: toolHeader };
  const tool = { name: "find_order", title, url: "https://shop.example/", headers };
  const made = JSON.parse(await call("POST", path, tool, bearer));
  secrets.push(made.secret.slice(6));
  await call("POST", path, { ...tool, title, name: badBody, headers: { [toolHeader]: toolHeader } }, bearer);
  await call("PATCH", `${path}/${made.id}`, { headers: { a: toolHeader, b: `${toolHeader}\n` } }, bearer);
  secrets.push(JSON.parse(await call("POST", `${path}/${made.id}/rotate-secret`, undefined, bearer)).secret.slice(6));
  await call("DELETE", `${path}/${made.id}`, undefined, bearer);
}

/** As a verified visitor, while the provider quotes what it was told. */
async function beKnown(companion: { id: string; embed_token: string }, bearer: Record<string, string>): Promise<void> {
  const made = JSON.parse(await call("POST", "/api/visitor-keys", { name: "shop", algorithm: "HS256" }, bearer));
  const key = { id: made.id, algorithm: "HS256", signWith: new TextEncoder().encode(made.secret) } as const;
  const { visitorSub: sub, visitorName: name, visitorEmail: email, visitorPlan: plan } = canaries;
  const good = await signToken(key, companion.id, { sub, name, email, attributes: { plan } });
  secrets.push(made.secret, ...good.split(".").slice(1));
  const session_id = crypto.randomUUID();
  server.mockLlm.respond(({ body }, response) => {
    const [instructions, ...said] = (body as { messages: { content: string }[] }).messages.map(
      ({ content }) => content,
    );
    const message = `Refused: ${instructions} / ${said.join(" / ")}`;
    response.send(400, { "Content-Type": "application/json" }, JSON.stringify({ error: { message } }));
  });
  for (const token of [good, `${good}x`, await signToken(key, "nobody", { sub, name })]) {
    const headers = { "x-visitor-token": token };
    const embed = `/api/embed/${companion.embed_token}`;
    await call("POST", `${embed}/chat`, { message: canaries.message, session_id }, headers);
    await call("GET", `${embed}/conversations`, undefined, headers);
    await call("POST", `${embed}/visitor/merge`, { session_id }, headers);
    await call("POST", `${embed}/voice-token`, { session_id }, headers);
  }
  await call("GET", `/api/conversations?visitor_sub=${sub}`, undefined, bearer);
  await call("DELETE", `/api/companions/${companion.id}/visitors/${sub}`, undefined, bearer);
}

test("the scenario was logged, by request, and what went wrong too", () => {
  const lines = written
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const requests = lines.filter(({ event }) => event === "request");
  expect(requests.length).toBeGreaterThan(35);
  expect(new Set(requests.map(({ route }) => route)).size).toBeGreaterThan(12);
  expect(requests.filter(({ status }) => status === 502).length).toBeGreaterThanOrEqual(5);
  expect(lines.some(({ level }) => level === "warn")).toBe(true);
  expect(new Set(requests.map(({ client }) => client))).toEqual(new Set(["203.0.113.0/24"]));
});

test.each(Object.entries(canaries))("holds nothing of the %s", (_, canary) => {
  expect(written).not.toContain(canary);
});

test("holds no key, no embed token and no whole address", () => {
  expect(secrets.length).toBe(8);
  for (const secret of secrets) expect(written).not.toContain(secret);
  expect(written).not.toContain(clientIp);
});
