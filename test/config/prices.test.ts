/** How prices are read: exactly, and with everything that is wrong told at once. */
import { expect, test } from "bun:test";
import { readPrices } from "../../src/config/prices.ts";
import { costOfTokens, createPrices, findIdlePrices, noPrices, worstCostOfTokens } from "../../src/domain/prices.ts";

function read(given: Parameters<typeof readPrices>[0], ...providers: string[]) {
  const problems: string[] = [];
  const list = readPrices(
    given,
    (name) => ["default", ...providers].includes(name),
    (sentence) => problems.push(sentence),
  );
  return { list, prices: createPrices(list), problems };
}

test("a price is in dollars per million tokens, exact to the sixth decimal, and what a cache does costs as input by default", () => {
  const { prices, problems } = read({
    exact: { input: 0.1, cached_input: 0.025, cache_write: 0.125, output: 2.000001 },
    plain: { input: 3, output: 0 },
  });
  expect(problems).toEqual([]);
  expect(prices.findTokenPrice({ provider: "default", model: "exact" })).toEqual({
    input: 100_000,
    cachedInput: 25_000,
    cacheWrite: 125_000,
    output: 2_000_001,
  });
  expect(prices.findTokenPrice({ provider: "x", model: "plain" })).toMatchObject({
    cachedInput: 3_000_000,
    cacheWrite: 3_000_000,
    output: 0,
  });
  expect(prices.findTokenPrice({ provider: "x", model: "other" })).toBeNull();
  // A million tokens for ten cents.
  const price = prices.findTokenPrice({ provider: "default", model: "exact" }) ?? expect.unreachable();
  const million = { inputTokens: 1_000_000, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };
  expect(costOfTokens(price, million)).toEqual({ micros: 100_000, picos: 0 });
  // Those that were written into the cache cost their own price, and those read from it theirs.
  expect(costOfTokens(price, { ...million, cachedTokens: 400_000, cacheWriteTokens: 600_000 }).micros).toBe(85_000);
  expect(costOfTokens(price, { ...million, cacheWriteTokens: 5_000_000 }).micros).toBe(125_000);
  expect(worstCostOfTokens(price, { inputTokens: 1_000_000, outputTokens: 0 }).micros).toBe(125_000);
});

test("provider/model wins over the model, and the plain settings' provider is called default", () => {
  const { prices } = read(
    { m: { input: 1, output: 1 }, "other/m": { input: 2, output: 2 }, "default/m": { input: 3, output: 3 } },
    "other",
  );
  const inputOf = (provider: string) => prices.findTokenPrice({ provider, model: "m" })?.input;
  expect([inputOf("other"), inputOf("default"), inputOf("third")]).toEqual([2_000_000, 3_000_000, 1_000_000]);
});

test("what stands before a slash is a provider only where one has that name", () => {
  const given = { "meta/llama/70b": { input: 1, output: 1 } };
  const ofModel = read(given).prices;
  expect(ofModel.findTokenPrice({ provider: "default", model: "meta/llama/70b" })).not.toBeNull();
  const ofProvider = read(given, "meta").prices;
  expect(ofProvider.findTokenPrice({ provider: "meta", model: "llama/70b" })).not.toBeNull();
  expect(ofProvider.findTokenPrice({ provider: "default", model: "meta/llama/70b" })).toBeNull();
});

test("voice is priced by the minute", () => {
  const { prices, problems } = read({ "voice/elevenlabs": { minute: 0.1 } });
  expect(problems).toEqual([]);
  // A tenth of a dollar is 100 000 micro-dollars.
  expect(prices.findMinutePrice("elevenlabs")).toBe(100_000 * 1_000_000);
  expect(prices.findMinutePrice("other")).toBeNull();
});

test("every problem is told at once, naming the entry", () => {
  const { problems } = read({
    a: { input: -1, output: 0.1234567 },
    b: { input: "1", output: 1e-9 },
    c: { output: 1, cachedInput: 1 },
    d: 5,
    e: { input: 1_000_001, output: null },
    "voice/x": { minute: 1, input: 1 },
    "voice/": { minute: 1 },
    "default/": { input: 1, output: 1 },
  });
  const amount = "must be a number of US dollars from 0 to 1000000 with at most six decimals.";
  expect(problems).toEqual([
    `"a": input ${amount}`,
    `"a": output ${amount}`,
    `"b": input ${amount}`,
    `"b": output ${amount}`,
    `"c" must not have "cachedInput": it takes input, output, cached_input, cache_write.`,
    `"c" lacks input.`,
    `"d" must be an object with input, output, cached_input, cache_write.`,
    `"e": input ${amount}`,
    `"e": output ${amount}`,
    `"voice/x" must not have "input": it takes minute.`,
    `"voice/" names no voice provider.`,
    `"default/" names no model.`,
  ]);
});

test("names like those of an object's own members are models like others", () => {
  const given = JSON.parse('{"__proto__":{"input":1,"output":1},"constructor":{"input":2,"output":2}}');
  const { prices, problems } = read(given);
  expect(problems).toEqual([]);
  expect(prices.findTokenPrice({ provider: "default", model: "__proto__" })?.input).toBe(1_000_000);
  expect(read({}).prices).toBe(noPrices);
});

test("prices of what nobody can be asked for are found, as they were written", () => {
  const one = { input: 1, output: 1 };
  const given = { m: one, typo: one, "other/m": one, "other/n": one, "voice/elevenlabs": { minute: 1 } };
  const { list } = read({ ...given, "voice/nobody": { minute: 1 } }, "other");
  const answerers = [
    { provider: "default", model: "m" },
    { provider: "other", model: "n" },
  ];
  expect(findIdlePrices(list, answerers, ["elevenlabs"])).toEqual(["typo", "other/m", "voice/nobody"]);
});
