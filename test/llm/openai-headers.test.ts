/** Which headers a provider gets: the operator's, and none that the environment sets for OpenAI's own libraries. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { checkEmbeddings, checkModels, openLlm } from "../../src/app/llm.ts";
import { loadConfig } from "../../src/config/config.ts";
import type { LlmProvider } from "../../src/contracts/llm/provider.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { replyRequest } from "../contracts/llm-provider.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { collectReply } from "../support/collected-reply.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const ofLibraries = {
  OPENAI_ORG_ID: "org-of-the-environment",
  OPENAI_ORGANIZATION: "org-of-the-environment",
  OPENAI_PROJECT_ID: "project-of-the-environment",
  OPENAI_ADMIN_KEY: "sk-admin-of-the-environment",
  OPENAI_WEBHOOK_SECRET: "whsec-of-the-environment",
  OPENAI_CUSTOM_HEADERS: "Authorization: Bearer of-the-environment\nX-Custom: of-the-environment",
  OPENAI_BASE_URL: "http://127.0.0.1:9/of-the-environment",
  OPENAI_LOG: "debug",
};
const before = new Map(Object.keys(ofLibraries).map((name) => [name, process.env[name]]));
beforeAll(() => void Object.assign(process.env, ofLibraries));
afterAll(() => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

let mock: MockLlm;
let log: ReturnType<typeof createCapturedLog>;
beforeEach(async () => {
  mock = await startMockLlm();
  log = createCapturedLog();
});
afterEach(() => mock.close());

const headers = { "X-Team": "support", "api-key": "Token very-secret-value", "User-Agent": "own/1" };

function load(environment: Record<string, string> = {}) {
  const settings = { OPENAI_BASE_URL: `${mock.url}/v1`, COMPANIOND_LLM_HEADERS: JSON.stringify(headers) };
  return loadConfig({ environment: { ...settings, ...environment } }).llm;
}

async function ask(llm: LlmProvider, text: string, model = "m"): Promise<void> {
  await llm.streamReply(replyRequest(text, { model }), collectReply(), new AbortController().signal).finally(llm.close);
}

function open(environment: Record<string, string> = {}): LlmProvider {
  const calls = { ended() {}, failed() {} };
  return openLlm(load(environment), { log, calls, clock: systemClock }).llm;
}

test("replies, embeddings and checks carry the operator's headers and nothing of the environment", async () => {
  await ask(open({ OPENAI_API_KEY: "sk-own" }), "Hi");
  await checkModels(load(), log);
  const embedding = load({ COMPANIOND_EMBEDDING_MODEL: "embed-1" });
  await checkEmbeddings(embedding, { log, signal: AbortSignal.timeout(5_000) }).catch(() => null);
  expect(mock.requests.map(({ path }) => path)).toEqual([
    "/v1/chat/completions",
    "/v1/chat/completions",
    "/v1/embeddings",
  ]);
  for (const request of mock.requests) {
    expect(request.headers).toMatchObject({
      "x-team": "support",
      "api-key": "Token very-secret-value",
      "user-agent": "own/1",
    });
    expect(JSON.stringify(request.headers)).not.toContain("of-the-environment");
    for (const name of ["openai-organization", "openai-project", "x-custom"])
      expect(request.headers).not.toHaveProperty(name);
  }
  expect(mock.requests.map((request) => request.headers.authorization)).toEqual([
    "Bearer sk-own",
    undefined,
    undefined,
  ]);
});

test("a provider of the file has headers of its own, and not those of the plain settings", async () => {
  using dir = temporaryDirectory();
  const provider = { name: "own", base_url: `${mock.url}/own/v1`, headers: { "X-Tenant": "seven" } };
  await Bun.write(dir.file("providers.json"), JSON.stringify({ providers: [provider], models: { fast: ["own/m"] } }));
  await ask(open({ COMPANIOND_PROVIDERS_FILE: dir.file("providers.json") }), "Hi", "fast");
  expect(mock.requests.map(({ path }) => path)).toEqual(["/own/v1/chat/completions"]);
  expect(mock.requests[0]?.headers).toMatchObject({ "x-tenant": "seven" });
  expect(mock.requests[0]?.headers).not.toHaveProperty("x-team");
});

test("values that a provider repeats are in no reason", async () => {
  mock.respond((_, response) =>
    response.send(401, {}, '{"error":{"message":"support: invalid very-secret-value in Token very-secret-value"}}'),
  );
  const failure = await ask(open(), "Hello").catch((error: unknown) => error);
  expect(failure).toMatchObject({
    cause: { message: "the provider answered 401 [header]: invalid [header] in [header]" },
  });
});
