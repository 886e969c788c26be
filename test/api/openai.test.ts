/** `/v1`: companions as models, called by OpenAI's own client, the AI SDK and plain requests. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";
import OpenAI, { APIError } from "openai";
import { createApp } from "../../src/app/app.ts";
import { contextOf, noteContext } from "../../src/http/request-context.ts";
import { type ApiClient, apiClient } from "../support/api-client.ts";
import { startTestServer, type TestServer } from "../support/app.ts";

let server: TestServer;
let account: Awaited<ReturnType<TestServer["createAccount"]>>;
let key: { id: string; key: string };
let owner: ApiClient;
let companion: Awaited<ReturnType<TestServer["createCompanion"]>>;
let openai: OpenAI;

beforeAll(async () => {
  server = await startTestServer({ environment: { COMPANIOND_RATE_PER_IP: "3" } });
  account = await server.createAccount();
  key = await server.createKey(account);
  owner = apiClient(server.url, key.key);
  companion = await server.createCompanion(
    { systemPrompt: "You are Ada.", temperature: 0.5, maxOutputTokens: 100, contextTokens: 1 },
    account,
  );
  openai = new OpenAI({ apiKey: key.key, baseURL: `${server.url}/v1`, maxRetries: 0 });
});
afterAll(() => server.close());

const say = (content: string) => ({ model: companion.id, messages: [{ role: "user" as const, content }] });
const lastBody = () => server.mockLlm.requests.at(-1)?.body as Record<string, unknown>;
const complete = (body: unknown, client = owner) => client.call("POST", "/v1/chat/completions", body);

/** Expects an error in OpenAI's shape. */
async function expectError(answer: ReturnType<typeof complete>, status: number, error: object) {
  const response = await answer;
  expect({ status: response.status, type: response.headers.get("content-type") }).toEqual({
    status,
    type: "application/json",
  });
  const shape = { message: expect.any(String), type: expect.any(String), code: expect.any(String) };
  expect(response.json.error).toEqual({ ...shape, param: null, ...error });
  expect(response.headers.get("x-request-id")).toBeTruthy();
  return response;
}

describe("OpenAI's own client", () => {
  test("gets a whole completion with the provider's count", async () => {
    const completion = await openai.chat.completions.create(say("Hello"));
    expect(completion).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: "chat.completion",
      model: companion.id,
      choices: [{ index: 0, message: { role: "assistant", content: "You said: Hello" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    });
    expect(Math.abs(completion.created - Date.now() / 1000)).toBeLessThan(60);
  });

  test("gets a stream of chunks, with usage where it asks for it", async () => {
    const stream = await openai.chat.completions.create({
      ...say("Grüße 🚲"),
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    expect(chunks[0]?.choices[0]?.delta).toMatchObject({ role: "assistant", content: "" });
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("You said: Grüße 🚲");
    expect(chunks.at(-2)?.choices[0]).toMatchObject({ delta: {}, finish_reason: "stop" });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 18 } });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks.every(({ object, model }) => object === "chat.completion.chunk" && model === companion.id)).toBe(
      true,
    );
  });

  test("is told why the model stopped", async () => {
    const cut = await openai.chat.completions.create(say("[[finish:length]]"));
    expect(cut.choices[0]?.finish_reason).toBe("length");
    const stream = await openai.chat.completions.create({ ...say("[[finish:content_filter]]"), stream: true });
    expect((await Array.fromAsync(stream)).at(-1)?.choices[0]?.finish_reason).toBe("content_filter");
  });

  test("is told of a break midway by an error instead of an end, and unstreamed by 502", async () => {
    const stream = await openai.chat.completions.create({ ...say("[[cut:2]] one two three"), stream: true });
    const read = Array.fromAsync(stream);
    expect(await read.catch((error: unknown) => error)).toBeInstanceOf(APIError);
    const { text } = await complete({ ...say("[[cut:2]] one two three"), stream: true });
    expect(text).not.toContain("[DONE]");
    expect(text.trimEnd().split("\n").at(-1)).toMatch(/^data: \{"error":\{"message":".+","type":"server_error"/);
    await expectError(complete(say("[[cut:2]] one two three")), 502, { code: "upstream_error", type: "server_error" });
    await expectError(complete(say("[[fail:400]]")), 502, { code: "upstream_error" });
  });

  test("lists this account's companions, page by page, and reads one", async () => {
    const someone = await server.createAccount();
    const made = [];
    for (let index = 0; index < 3; index++) made.push(await server.createCompanion({ name: `C${index}` }, someone));
    await server.createCompanion({ enabled: false }, someone);
    const { key: secret } = await server.createKey(someone, ["chat:write"]);
    const client = new OpenAI({ apiKey: secret, baseURL: `${server.url}/v1` });
    const newestFirst = made.map(({ id }) => id).reverse();
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).toEqual(newestFirst);
    expect(data[0]).toEqual({
      id: newestFirst[0] ?? "",
      object: "model",
      created: Math.floor((made[2]?.createdAt ?? 0) / 1000),
      owned_by: "companiond",
      name: "C2",
    } as (typeof data)[0]);
    expect(await client.models.retrieve(newestFirst[1] ?? "")).toMatchObject({ id: newestFirst[1] });
    // It knows no further pages of models, and ends with the first: a picker asks with `after`.
    const iterate = async (query: object) => (await Array.fromAsync(client.models.list({ query }))).map(({ id }) => id);
    expect(await iterate({})).toEqual(newestFirst);
    expect(await iterate({ limit: 2 })).toEqual(newestFirst.slice(0, 2));
    expect(await iterate({ limit: 2, after: newestFirst[1] })).toEqual(newestFirst.slice(2));
    const theirs = apiClient(server.url, secret);
    const first = await theirs.call("GET", "/v1/models?limit=2");
    expect(first.json).toMatchObject({ object: "list", has_more: true, last_id: newestFirst[1] });
    const rest = await theirs.call("GET", `/v1/models?limit=2&after=${newestFirst[1]}`);
    expect(rest.json).toMatchObject({ data: [{ id: newestFirst[2] }], has_more: false });
    const none = await client.models.retrieve(companion.id).catch((error: unknown) => error);
    expect(none).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
  });
});

describe("the AI SDK", () => {
  const model = () => createOpenAI({ apiKey: key.key, baseURL: `${server.url}/v1` }).chat(companion.id);

  test("generates text, and streams it", async () => {
    const made = await generateText({ model: model(), system: "Be brief.", prompt: "Hello", maxRetries: 0 });
    expect(made.text).toBe("You said: Hello");
    expect(made.usage).toMatchObject({ inputTokens: 11, outputTokens: 7 });
    expect(lastBody().messages).toMatchObject([
      { role: "system", content: "You are Ada.\n\nBe brief." },
      { role: "user", content: "Hello" },
    ]);
    const streamed = streamText({ model: model(), prompt: "Hello again", maxRetries: 0 });
    expect((await Array.fromAsync(streamed.textStream)).join("")).toBe("You said: Hello again");
    expect(await streamed.finishReason).toBe("stop");
    expect((await streamed.usage).outputTokens).toBe(7);
  });
});

describe("what the model is asked", () => {
  test("is the companion's instructions, further ones behind them, and the messages as they are", async () => {
    const messages = [
      { role: "assistant", content: "Welcome." },
      {
        role: "developer",
        content: [
          { type: "text", text: "Answer " },
          { type: "text", text: "in French." },
        ],
      },
      { role: "user", content: `Long ${"x".repeat(20_000)}` },
      { role: "assistant", content: "Oui." },
      { role: "system", content: "Sign as Ada.", name: "ops" },
      { role: "user", content: [{ type: "text", text: "Hi" }] },
    ];
    expect((await complete({ model: companion.id, messages })).status).toBe(200);
    expect(lastBody().messages).toEqual([
      { role: "system", content: "You are Ada.\n\nAnswer in French.\n\nSign as Ada." },
      { role: "assistant", content: "Welcome." },
      { role: "user", content: `Long ${"x".repeat(20_000)}` },
      { role: "assistant", content: "Oui." },
      { role: "user", content: "Hi" },
    ]);
  });

  test("keeps the companion's bound, whatever the caller's, and takes over temperature and stops", async () => {
    await complete({ ...say("Hi"), max_tokens: 5000, max_completion_tokens: 4000, temperature: 0, stop: "END" });
    expect(lastBody()).toMatchObject({ max_tokens: 100, temperature: 0, stop: ["END"] });
    await complete({ ...say("Hi"), max_tokens: 7, stop: ["a", "b"] });
    expect(lastBody()).toMatchObject({ max_tokens: 7, temperature: 0.5, stop: ["a", "b"] });
    await complete({ ...say("Hi"), max_tokens: null, temperature: null, stop: null });
    expect(lastBody()).toMatchObject({ max_tokens: 100, temperature: 0.5 });
    expect(lastBody()).not.toHaveProperty("stop");
  });

  test("is not remembered: no conversation, but one message in quota and usage under the calling key", async () => {
    const fresh = await server.createCompanion({}, account);
    for (let index = 0; index < 2; index++) {
      const sent = { ...say("Remember me"), model: fresh.id.toUpperCase(), stream: index === 1 };
      expect((await complete(sent)).status).toBe(200);
    }
    expect((lastBody().messages as unknown[]).length).toBe(1);
    expect((await owner.call("GET", `/api/companions/${fresh.id}/conversations`)).json.data).toEqual([]);
    expect((await owner.call("GET", `/api/companions/${fresh.id}/quota`)).json).toMatchObject({ used: 2 });
    const usage = await owner.call("GET", `/api/usage?group_by=key&companion_id=${fresh.id}`);
    expect(usage.json.data).toMatchObject([{ key_id: key.id, messages: 2, input_tokens: 22 }]);
  });

  test("is counted by estimate where the provider does not count", async () => {
    const { json } = await complete(say("[[nousage]] Hello"));
    // "You are Ada." is 3 tokens, the message with its directive 5, "You said: Hello" 4.
    expect(json).toMatchObject({ usage: { prompt_tokens: 8, completion_tokens: 4, total_tokens: 12 } });
  });
});

describe("a body", () => {
  test("may have parameters that change nothing", async () => {
    const harmless = {
      ...{ n: 1, seed: 7, top_p: 0.9, presence_penalty: 1, frequency_penalty: 1, logit_bias: {}, store: false },
      ...{ metadata: { a: "b" }, tools: [], tool_choice: "none", response_format: { type: "text" }, logprobs: false },
      ...{ modalities: ["text"], service_tier: "auto", reasoning_effort: "low", stream: null, user: null, unknown: 1 },
    };
    expect((await complete({ ...say("Hi"), ...harmless })).status).toBe(200);
  });

  test("with what would be ignored to the caller's harm is 400 that names it", async () => {
    const tool = { type: "function", function: { name: "f" } };
    const harmful: Record<string, unknown> = {
      ...{
        n: 2,
        tools: [tool],
        functions: [{ name: "f" }],
        tool_choice: "required",
        response_format: { type: "json_object" },
      },
      ...{ logprobs: true, top_logprobs: 3, modalities: ["text", "audio"], audio: {}, temperature: 2.1, max_tokens: 0 },
      ...{ max_completion_tokens: 1.5, stop: ["a", "b", "c", "d", "e"], stream: "yes", user: "a\0", model: 7 },
      ...{ stream_options: { include_usage: true }, messages: [] },
    };
    for (const [param, value] of Object.entries(harmful)) {
      const { json } = await expectError(complete({ ...say("Hi"), [param]: value }), 400, {
        param,
        code: "invalid_request",
        type: "invalid_request_error",
      });
      expect((json.error as { message: string }).message).toContain(param);
    }
  });

  test("has messages of text alone", async () => {
    const image = { type: "image_url", image_url: { url: "data:," } };
    const faults: [unknown, string][] = [
      [{ role: "user", content: [{ type: "text", text: "a" }, image] }, "messages[0].content[1].type"],
      [{ role: "user", content: "a\0b" }, "messages[0].content"],
      [{ role: "user", content: "\ud800" }, "messages[0].content"],
      [{ role: "user" }, "messages[0].content"],
      [{ role: "tool", content: "a" }, "messages[0].role"],
      [{ role: "assistant", content: "", tool_calls: [{ id: "1" }] }, "messages[0].tool_calls"],
      [null, "messages[0].role"],
    ];
    for (const [message, param] of faults) {
      await expectError(complete({ model: companion.id, messages: [message] }), 400, {
        param,
        code: "invalid_request",
      });
    }
  });

  test("may be a mebibyte and no more, JSON and nothing else", async () => {
    const sized = (bytes: number) => {
      const shell = JSON.stringify(say(""));
      return JSON.stringify(say("x".repeat(bytes - shell.length)));
    };
    expect((await complete(sized(1024 * 1024))).status).toBe(200);
    await expectError(complete(sized(1024 * 1024 + 1)), 413, { code: "payload_too_large" });
    const plain = owner.call("POST", "/v1/chat/completions", "{}", { "content-type": "text/plain" });
    await expectError(plain, 415, { code: "unsupported_media_type" });
    await expectError(complete("{"), 400, { code: "invalid_request" });
    await expectError(complete("[]"), 400, { code: "invalid_request" });
  });
});

describe("errors have OpenAI's shape", () => {
  test("for keys, scopes, models, unknown paths and methods", async () => {
    const nobody = apiClient(server.url, null);
    const refused = await expectError(complete(say("Hi"), nobody), 401, { code: "invalid_api_key" });
    expect(refused.headers.get("www-authenticate")).toBe("Bearer");
    const narrow = apiClient(server.url, (await server.createKey(account, ["companions:read"])).key);
    await expectError(complete(say("Hi"), narrow), 403, { code: "insufficient_scope" });
    const unknown = { code: "model_not_found", param: "model" };
    await expectError(complete({ ...say("Hi"), model: "gpt-5" }), 404, unknown);
    await expectError(complete({ ...say("Hi"), model: crypto.randomUUID() }), 404, unknown);
    const off = await server.createCompanion({ enabled: false }, account);
    await expectError(complete({ ...say("Hi"), model: off.id }), 404, unknown);
    for (const path of ["/v1", "/v1/", "/v1/embeddings", "/v1/chat"]) {
      await expectError(owner.call("POST", path, {}), 404, { code: "not_found" });
    }
    const responses = await openai.responses.create({ model: companion.id, input: "Hi" }).catch((error) => error);
    expect(responses).toMatchObject({ status: 404, type: "invalid_request_error" });
    expect(responses.message).toContain("POST /v1/chat/completions, GET /v1/models and GET /v1/models/{id}");
    const wrong = await expectError(owner.call("GET", "/v1/chat/completions"), 405, { code: "method_not_allowed" });
    expect(wrong.headers.get("allow")).toBe("POST");
    await expectError(owner.call("GET", "/v1/models?limit=0"), 400, { param: "limit" });
    await expectError(owner.call("GET", "/v1/models?after=x"), 400, { param: "after" });
  });

  test("for the visitor's window, by `user`, and for used-up quotas, which clients do not try again", async () => {
    for (let index = 0; index < 3; index++) {
      const sent = await complete({ ...say("Hi"), user: "v-1" });
      expect(sent.status).toBe(200);
      expect(sent.headers.get("ratelimit-policy")).toBe('"chat";q=1000000;w=60, "visitor";q=3;w=60');
    }
    const refused = await expectError(complete({ ...say("Hi"), user: "v-1" }), 429, { code: "rate_limit_exceeded" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await complete({ ...say("Hi"), user: "v-2" })).status).toBe(200);
    const scarce = await server.createCompanion({ dailyMessages: 1 }, account);
    expect((await complete({ ...say("Hi"), model: scarce.id })).status).toBe(200);
    const spent = await expectError(complete({ ...say("Hi"), model: scarce.id }), 429, {
      code: "insufficient_quota",
      type: "insufficient_quota",
    });
    expect(spent.headers.get("x-should-retry")).toBe("false");
  });

  test("and carry the CORS headers of /api, as preflights and successes do", async () => {
    const origin = "https://app.example";
    for (const path of ["/v1/models", "/v1/nothing", "/v1", "/v1?limit=1"]) {
      const response = await owner.call("GET", path, undefined, { origin });
      expect(response.headers.get("access-control-allow-origin")).toBe(origin);
      expect(response.headers.get("access-control-expose-headers")).toContain("Retry-After");
      expect(response.headers.has("access-control-allow-credentials")).toBe(false);
    }
    const preflight = await owner.call("OPTIONS", "/v1/chat/completions", undefined, { origin });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toContain("Authorization");
  });
});

describe("a caller who leaves", () => {
  test("stops the model, streamed or not", async () => {
    for (const stream of [true, false]) {
      const leaving = new AbortController();
      const aborted = server.mockLlm.abortedRequests;
      const call = fetch(`${server.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key.key}`, "content-type": "application/json" },
        body: JSON.stringify({ ...say("[[silence:2]] a b c"), stream }),
        signal: leaving.signal,
      });
      await server.mockLlm.until(() => server.mockLlm.openRequests === 1);
      if (stream) await call;
      leaving.abort();
      await call.catch(() => {});
      await server.mockLlm.until(() => server.mockLlm.abortedRequests > aborted);
      expect(server.mockLlm.abortedRequests).toBe(aborted + 1);
    }
  });
});

test("a key that is revoked ends what runs under it: an error and no end, unstreamed 503", async () => {
  const brief = await server.createKey(account);
  const client = apiClient(server.url, brief.key);
  const streamed = complete({ ...say("[[silence:2]] a b c"), stream: true }, client);
  const whole = complete(say("[[silence:2]] a b c"), client);
  await server.mockLlm.until(() => server.mockLlm.openRequests === 2);
  await owner.call("DELETE", `/api/keys/${brief.id}`);
  const { text } = await streamed;
  expect(text).toEndWith('"type":"server_error","param":null,"code":"unavailable"}}\n\n');
  await expectError(whole, 503, { code: "unavailable" });
});

test("a stream is a plain event stream, as curl sees it", async () => {
  const curl = Bun.spawn(
    [
      ...["curl", "-sSi", "--max-time", "20", `${server.url}/v1/chat/completions`],
      ...["-H", `Authorization: Bearer ${key.key}`, "-H", "Content-Type: application/json"],
      ...["-d", JSON.stringify({ ...say("One two"), stream: true })],
    ],
    { stdout: "pipe", stderr: "inherit" },
  );
  const text = await curl.stdout.text();
  expect(text).toMatch(/^HTTP\/1.1 200/);
  expect(text.toLowerCase()).toContain("content-type: text/event-stream; charset=utf-8");
  expect(text).toContain('"choices":[{"index":0,"delta":{"content":');
  expect(text).toContain("data: [DONE]\n\n");
});

test("long prompts that are being answered have a bound, and leave it when they end", async () => {
  const body = { ...say("[[hang]]"), messages: Array(25_000).fill({ role: "user", content: "" }) };
  const leaving = new AbortController();
  let refused: Response | undefined;
  server.mockLlm.respond(async (_, response) => await response.closed);
  const post = () =>
    fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key.key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: leaving.signal,
    });
  // Each holds 5 MB of 64 MiB.
  const answers = Array.from({ length: 14 }, () =>
    post()
      .then((response) => (refused = response))
      .catch(() => null),
  );
  await Promise.race(answers);
  leaving.abort();
  await Promise.all(answers);
  server.mockLlm.respond(null);
  expect([refused?.status, refused?.headers.get("retry-after")]).toEqual([429, "1"]);
  expect((await complete(say("Hello"))).status).toBe(200);
});

test("a completion that takes long holds its connection, and a streamed one until it begins", async () => {
  const silences: number[] = [];
  for (const stream of [false, true]) {
    const request = new Request("http://localhost/v1/chat/completions", {
      method: "POST",
      headers: { authorization: `Bearer ${key.key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...say("Hello"), stream }),
    });
    const facts = contextOf(request, server.services.ids);
    noteContext(request, { ...facts, allowSilence: (seconds) => silences.push(seconds) });
    await (await createApp(server.services).fetch(request)).text();
  }
  expect(silences).toEqual([0, 10, 0, 10, 30, 10]);
});
