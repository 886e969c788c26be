/** The engine for embeddings: what it sends, what it takes for vectors, and what it refuses. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { EmbeddingProvider } from "../../src/contracts/llm/embeddings.ts";
import { AppError } from "../../src/domain/errors.ts";
import { createOpenAiEmbeddings } from "../../src/engines/openai/embeddings.ts";
import { testEmbeddings } from "../contracts/embeddings.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { mockVector, respondWithEmbeddings } from "../support/mock-embeddings.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";

const key = "sk-a-key-that-nobody-may-see-0123456789";
const log = createCapturedLog();
let mock: MockLlm;
let provider: EmbeddingProvider;

beforeAll(async () => {
  mock = await startMockLlm();
});
afterAll(async () => {
  provider.close();
  await mock.close();
});
beforeEach(() => {
  provider?.close();
  provider = open(mock);
  mock.respond(respondWithEmbeddings());
  mock.requests.length = 0;
});

function open({ url }: MockLlm, options: { timeoutMs?: number } = {}): EmbeddingProvider {
  return createOpenAiEmbeddings({ apiKey: key, baseUrl: `${url}/v1`, model: "embed-1", log, backoffMs: 1, ...options });
}

for (const format of ["base64", "numbers"] as const) {
  testEmbeddings(`an endpoint that writes ${format}`, async () => {
    const server = await startMockLlm();
    server.respond(respondWithEmbeddings({ format }));
    const embeddings = open(server);
    return {
      provider: embeddings,
      async close() {
        embeddings.close();
        await server.close();
      },
    };
  });
}

const embed = (...texts: string[]) => provider.embed(texts, new AbortController().signal);

async function causeOf(embedding: Promise<unknown>): Promise<{ message: string; kind: string }> {
  const error = await embedding.then(
    () => expect.unreachable(),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AppError);
  expect(error).toMatchObject({ code: "upstream_error" });
  const { message, kind } = (error as AppError).cause as { message: string; kind: string };
  return { message, kind };
}

test("asks for bytes, with the key and the model, and takes fewer texts at once from who writes numbers", async () => {
  const { vectors, tokens } = await embed("one two", "three");
  expect(mock.requests[0]).toMatchObject({
    ...{ method: "POST", path: "/v1/embeddings" },
    body: { model: "embed-1", input: ["one two", "three"], encoding_format: "base64" },
  });
  expect(mock.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${key}`, "user-agent": "companiond" });
  expect(vectors).toEqual([mockVector("one two"), mockVector("three")]);
  expect(tokens).toBe("one twothree".length);
  expect(provider.maxTexts).toBe(96);
  mock.respond(respondWithEmbeddings({ format: "numbers" }));
  expect((await embed("three")).vectors).toEqual([mockVector("three")]);
  expect(provider.maxTexts).toBe(16);
});

test("asks without the format where a provider refuses to know it, and remembers that", async () => {
  mock.respond((request, response) => {
    if (request.body.encoding_format === undefined) return respondWithEmbeddings()(request, response);
    response.send(400, {}, JSON.stringify({ error: { message: "Unknown parameter: encoding_format" } }));
  });
  await embed("one");
  await embed("two");
  expect(mock.requests.map(({ body }) => body.encoding_format)).toEqual(["base64", undefined, undefined]);
});

test("tries again what may pass, and estimates what is not counted", async () => {
  mock.respond((request, response) => {
    if (request.index === 0) response.send(503, {}, "{}");
    else if (request.index === 1) response.cut();
    else response.send(200, {}, JSON.stringify({ data: [{ embedding: [1, 2] }] }));
  });
  expect(await embed("12345")).toEqual({ vectors: [Float32Array.of(1, 2)], tokens: 2 });
  expect(mock.requests).toHaveLength(3);
});

test("gives up in time, and says nothing of texts and key", async () => {
  const words = "the visitor's own words";
  mock.respond((_, response) => response.send(400, {}, JSON.stringify({ error: { message: `${words} ${key}` } })));
  const refused = await causeOf(embed(words));
  expect(refused).toEqual({ message: "the provider answered 400 [private] [key]", kind: "refused_request" });
  mock.respond(() => {});
  const late = open(mock, { timeoutMs: 20 });
  expect((await causeOf(late.embed([words], new AbortController().signal))).kind).toBe("timed_out");
  late.close();
  await mock.until(() => mock.openRequests === 0);
  expect(log.text()).not.toContain(words);
});

const zeros = Buffer.from(new Float32Array(2).buffer).toString("base64");
const infinite = Buffer.from(Float32Array.of(Number.NaN, 1).buffer).toString("base64");

test.each([
  ["no JSON", "<html>"],
  ["no list", "{}"],
  ["too few", { data: [{ embedding: zeros }] }],
  [
    "one text twice",
    {
      data: [
        { index: 0, embedding: zeros },
        { index: 0, embedding: zeros },
      ],
    },
  ],
  [
    "other texts",
    {
      data: [
        { index: 1, embedding: zeros },
        { index: 2, embedding: zeros },
      ],
    },
  ],
  ["different dimensions", { data: [{ embedding: [1] }, { embedding: [1, 2] }] }],
  ["no dimensions", { data: [{ embedding: [] }, { embedding: [] }] }],
  ["half a number", { data: [{ embedding: "AAAA" }, { embedding: "AAAA" }] }],
  ["texts", { data: [{ embedding: ["1"] }, { embedding: ["2"] }] }],
  ["no number", { data: [{ embedding: infinite }, { embedding: infinite }] }],
  ["too large a number", { data: [{ embedding: [1e39] }, { embedding: [1] }] }],
  ["entries that are none", { data: [null, null] }],
])("refuses %s", async (_, answer) => {
  mock.respond((_request, response) => {
    response.send(200, {}, typeof answer === "string" ? answer : JSON.stringify(answer));
  });
  expect((await causeOf(embed("one", "two"))).kind).toBe("malformed");
  expect(mock.requests).toHaveLength(1);
});
