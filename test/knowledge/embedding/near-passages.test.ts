/** Passages by meaning with a real provider on loopback: what is found and near, what it counts, and when nobody is asked. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createCountedEmbedder } from "../../../src/core/knowledge/embedding/counted-embedder.ts";
import { createNearPassages } from "../../../src/core/knowledge/retrieval/vectors/near-passages.ts";
import { packVectors } from "../../../src/core/knowledge/retrieval/vectors/quantised.ts";
import { Measurements } from "../../../src/core/metrics/measurements.ts";
import type { Companion } from "../../../src/domain/companion.ts";
import { createPrices } from "../../../src/domain/prices.ts";
import { createOpenAiEmbeddings } from "../../../src/engines/openai/embeddings.ts";
import { systemIds } from "../../../src/lib/ids.ts";
import { createCapturedLog } from "../../support/captured-log.ts";
import { mockVector, respondWithEmbeddings } from "../../support/mock-embeddings.ts";
import { type MockLlm, startMockLlm } from "../../support/mock-llm.ts";
import { openTemporaryStore } from "../../support/sqlite-store.ts";
import { openWorld, type StoreWorld } from "../../support/store-world.ts";

const model = "embed-1";
const log = createCapturedLog();
const measurements = new Measurements();
const texts = ["opening hours of the shop", "returning a parcel", "prices of wooden chairs"];
let mock: MockLlm;
let world: StoreWorld;
let companion: Companion;

beforeAll(async () => {
  mock = await startMockLlm();
  mock.respond(respondWithEmbeddings());
  world = await openWorld(openTemporaryStore);
});
afterAll(async () => {
  await world.close();
  await mock.close();
});
beforeEach(async () => {
  companion = await world.createCompanion(await world.createAccount({ email: `${systemIds.uuid()}@site.test` }));
  mock.requests.length = 0;
});

const openProvider = () =>
  createOpenAiEmbeddings({ apiKey: null, baseUrl: `${mock.url}/v1`, model, log, backoffMs: 1 });

function openEmbedder(provider = openProvider()) {
  const { store, clock } = world;
  const price = { input: 2_000_000, cachedInput: 2_000_000, cacheWrite: 2_000_000, output: 0 };
  const prices = createPrices({ tokens: [{ provider: null, model, price }], minutes: [] });
  return createCountedEmbedder({ provider, prices, store, clock, ids: systemIds, log, measurements });
}

function ask(last: string, previous: string | null = null, editionModel: string | null = model) {
  const blocks = [{ firstOrdinal: 0, vectors: packVectors(texts.map((text) => mockVector(text))) }];
  const readVectors = async (_: number, firstOrdinal: number) => (firstOrdinal === 0 ? blocks : []);
  const near = createNearPassages({ store: { knowledge: { readVectors } }, embedder: openEmbedder() });
  const edition = { edition: 1, sourceId: "s", chunks: texts.length, tokens: 10, words: 10, model: editionModel };
  const question = { companion, last, previous, signal: null, editions: [edition], limit: 2 };
  return near.find(question, new AbortController().signal);
}

async function readUsage() {
  const today = new Date(world.clock.nowMs()).toISOString().slice(0, 10);
  const range = { fromDay: today, toDay: today, companionId: null, metadata: [] };
  return await world.store.usage.query(companion.accountId, { ...range, groupBy: ["model", "provider"] });
}

test("ranks by both messages, counts as near by the last alone, and its tokens are in usage", async () => {
  const found = await ask("the prices of chairs", "returning a parcel");
  expect(found?.ranked.map(({ ordinal }) => ordinal).toSorted()).toEqual([1, 2]);
  expect(found?.isNear).toBe(true);
  expect(mock.requests[0]?.body.input).toEqual(["returning a parcel\nthe prices of chairs", "the prices of chairs"]);
  expect((await ask("quantum gravity", "returning a parcel"))?.isNear).toBe(false);
  const [row] = await readUsage();
  expect(row).toMatchObject({ model, provider: "default", messages: 0, unpriced: 0 });
  const sent = mock.requests.flatMap(({ body }) => body.input as string[]).join("");
  expect(row?.inputTokens).toBe(sent.length);
  expect(row?.costMicros).toBe(sent.length * 2);
});

test("a count that cannot be true is cut to what can be: a token has at least one byte", async () => {
  const provider = openProvider();
  const embed: typeof provider.embed = async (...asked) => {
    return { ...(await provider.embed(...asked)), tokens: Number.MAX_SAFE_INTEGER };
  };
  const embedder = openEmbedder({ ...provider, maxTexts: 1, embed });
  for (let time = 0; time < 3; time++) await embedder.embed(companion, ["chairs"], new AbortController().signal);
  const [row] = await readUsage();
  // With 16 for what providers put around a text.
  const chairsTokens = "chairs".length + 16;
  expect(row?.inputTokens).toBe(3 * chairsTokens);
  expect(row?.costMicros).toBe(2 * 3 * chairsTokens);
});

test("asks nobody without vectors of the model, for a stopped account, or beyond a budget", async () => {
  expect(await ask("chairs", null, null)).toBeNull();
  expect(await ask("chairs", null, "another")).toBeNull();
  const { spending } = world.store;
  const budget = { id: systemIds.uuid(), subject: { companionId: companion.id }, limitMicros: 1 };
  await spending.createBudget(companion.accountId, { ...budget, period: "day", action: "stop" }, world.context());
  expect(await ask("chairs")).toBeNull();
  expect(mock.requests).toEqual([]);
  await spending.updateBudget(companion.accountId, budget.id, { limitMicros: 1000 }, world.context());
  expect(await ask("chairs")).not.toBeNull();
  const spent = await spending.findBudget(companion.accountId, budget.id, world.clock.nowMs());
  expect(JSON.stringify(spent)).toContain('"micros":12');
  await spending.stop(companion.accountId, world.context());
  expect(await ask("chairs")).toBeNull();
  expect(mock.requests).toHaveLength(1);
});

test("a call that breaks costs what its text can at most, and no other follows once spending is stopped", async () => {
  const { spending } = world.store;
  const budget = { id: systemIds.uuid(), subject: { companionId: companion.id }, limitMicros: 1000 };
  await spending.createBudget(companion.accountId, { ...budget, period: "day", action: "stop" }, world.context());
  const spent = async () => {
    const found = await spending.findBudget(companion.accountId, budget.id, world.clock.nowMs());
    return [found?.spent.micros, found?.reservedMicros];
  };
  const embed = () => openEmbedder().embed(companion, ["chairs"], new AbortController().signal);
  const most = 2 * ("chairs".length + 16);
  mock.respond(({ index }, response) => {
    if (index > 0) return respondWithEmbeddings()(mock.requests[index] as never, response);
    response.begin();
    return response.reset();
  });
  expect(await embed()).toHaveLength(1);
  expect(await spent()).toEqual([most + 2 * "chairs".length, 0]);
  mock.respond(async (_, response) => {
    await spending.stop(companion.accountId, world.context());
    response.send(500, {}, "no");
  });
  await expect(embed()).rejects.toMatchObject({ code: "upstream_error" });
  expect(mock.requests).toHaveLength(3);
  expect(await spent()).toEqual([most + 2 * "chairs".length, 0]);
  mock.respond(respondWithEmbeddings());
});
