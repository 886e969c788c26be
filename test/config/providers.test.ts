/** The file of providers and chains: what it means, and what it may not say. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, ConfigError, loadConfig } from "../../src/config/config.ts";

const dir = mkdtempSync(join(tmpdir(), "companiond-providers-"));
afterAll(() => rmSync(dir, { recursive: true }));
writeFileSync(join(dir, "key"), "sk-of-the-file\n");
writeFileSync(join(dir, "bad-key"), "two words, never shown");

const url = "https://llm.example/v1";
const plain = { OPENAI_API_KEY: "sk-1" };

function load(file: unknown, environment: Record<string, string> = {}): Config {
  const path = join(dir, "providers.json");
  writeFileSync(path, typeof file === "string" ? file : JSON.stringify(file));
  return loadConfig({ environment: { COMPANIOND_PROVIDERS_FILE: path, ...environment } });
}

function problemsOf(file: unknown, environment: Record<string, string> = {}): string[] {
  try {
    load(file, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ sentence }) => sentence);
    throw error;
  }
  return [];
}

test("names providers with their keys, and chains of their models", () => {
  const file = {
    providers: [
      { name: "router", base_url: `${url}/`, api_key_file: "key", models: ["meta/llama", "gpt"] },
      {
        name: "own",
        base_url: "http://127.0.0.1:11434/v1",
        extra: { think: false },
        headers: { "X-Team": "a" },
        api: "chat",
        reasoning_effort: "none",
      },
    ],
    models: { fast: ["router/meta/llama", "own/anything", "default/gpt-6-luna"] },
  };
  const { llm } = load(file, plain);
  expect(llm.providers).toEqual([
    {
      name: "router",
      baseUrl: url,
      apiKey: "sk-of-the-file",
      keyFile: join(dir, "key"),
      models: ["meta/llama", "gpt"],
      extra: {},
      headers: {},
      api: "auto",
      reasoningEffort: null,
    },
    {
      name: "own",
      baseUrl: "http://127.0.0.1:11434/v1",
      apiKey: null,
      keyFile: null,
      models: [],
      extra: { think: false },
      headers: { "X-Team": "a" },
      api: "chat",
      reasoningEffort: "none",
    },
  ]);
  expect(llm.aliases).toEqual({
    fast: [
      { provider: "router", model: "meta/llama" },
      { provider: "own", model: "anything" },
      { provider: "default", model: "gpt-6-luna" },
    ],
  });
  expect(llm.models).toEqual(["gpt-6-luna", "fast", "router/meta/llama", "router/gpt"]);
  expect(Object.isFrozen(llm.aliases.fast) && Object.isFrozen(llm.providers[0])).toBe(true);
});

const two = {
  providers: [{ name: "a", base_url: url, models: ["m"] }],
  models: { fast: ["a/m"], "gpt-6-luna": ["a/m"] },
};

test("the default may be an alias or a provider's model; without plain settings it is the first alias or model", () => {
  const defaultOf = (file: unknown, environment = {}) => load(file, environment).llm.model;
  expect(defaultOf(two)).toBe("fast");
  expect(defaultOf({ providers: two.providers })).toBe("a/m");
  expect(defaultOf(two, plain)).toBe("gpt-6-luna");
  expect(defaultOf(two, { ...plain, COMPANIOND_MODEL: "fast" })).toBe("fast");
  expect(defaultOf(two, { COMPANIOND_MODEL: "a/m" })).toBe("a/m");
  expect(load(two, { ...plain, COMPANIOND_MODELS: "x/y,fast" }).llm.models).toEqual([
    "gpt-6-luna",
    "x/y",
    "fast",
    "a/m",
  ]);
});

test("a model that nobody answers for is refused", () => {
  expect(problemsOf(two, { COMPANIOND_MODEL: "gpt-5", COMPANIOND_MODELS: "a/typo" })).toEqual([
    "COMPANIOND_MODEL names gpt-5, which is neither an alias nor provider/model of COMPANIOND_PROVIDERS_FILE.",
    "COMPANIOND_MODELS names a/typo, which is not among the models of a in COMPANIOND_PROVIDERS_FILE.",
  ]);
  expect(problemsOf({ providers: [{ name: "a", base_url: url }] })).toEqual([
    "COMPANIOND_PROVIDERS_FILE: there is no model: give a provider models, or an alias.",
  ]);
});

test("prices know the file's providers", () => {
  const { prices } = load(two, { COMPANIOND_PRICES: '{"a/m":{"input":1,"output":1},"b/m":{"input":1,"output":1}}' });
  expect(prices.tokens).toMatchObject([
    { provider: "a", model: "m" },
    { provider: null, model: "b/m" },
  ]);
});

test("a price list can be a file of its own", () => {
  const path = join(dir, "prices.json");
  writeFileSync(path, '{"gpt-6-luna":{"input":0.25,"cached_input":0.025,"output":2}}\n');
  expect(loadConfig({ environment: { COMPANIOND_PRICES_FILE: path } }).prices.tokens).toHaveLength(1);
  writeFileSync(path, '{"gpt-6-luna":{"input":-1,"output":2}}\n');
  const load = () => loadConfig({ environment: { COMPANIOND_PRICES_FILE: path } });
  expect(load).toThrow('COMPANIOND_PRICES: "gpt-6-luna": input must be');
});

test("every problem is told at once, and no key", () => {
  const many = { name: "many", base_url: url };
  const problems = problemsOf({
    providers: [
      { name: "Upper", base_url: "ftp://x", key: 1, extra: 1 },
      { name: "default", base_url: url, extra: { stream: false }, headers: { "x-key": ["never shown"] } },
      many,
      many,
      { base_url: url, api_key_file: "absent" },
      { name: "keyed", base_url: url, api_key_file: "bad-key", models: ["", "a b", 5] },
      "text",
    ],
    models: {
      none: [],
      wrong: ["many", "nobody/m", "default/gpt", "many/m", "many/m"],
      long: Array(13).fill("many/m"),
      "many/m": ["many/m"],
      text: "many/m",
    },
    aliases: {},
  });
  const start = "COMPANIOND_PROVIDERS_FILE: ";
  expect(problems.every((problem) => problem.startsWith(start))).toBe(true);
  expect(problems.map((problem) => problem.slice(start.length))).toEqual([
    'the file must not have "aliases": it takes providers, models.',
    'providers[0] must not have "key": it takes name, base_url, api_key_file, models, extra, headers, api, reasoning_effort.',
    'providers[0].name must be 1 to 32 lower-case letters, digits and hyphens, not "Upper".',
    'providers[0].base_url must be a URL that begins with http:// or https://, not "ftp://x".',
    "providers[0].extra must be an object.",
    "providers[1].name must not be default, which has a meaning of its own.",
    "providers[1].extra must not contain stream: the server sets it itself.",
    "providers[1].headers must give x-key a text of one line of ASCII characters.",
    "providers[3].name is that of another provider: many.",
    "providers[4].name is missing.",
    `providers[4].api_key_file: there is no such file: ${join(dir, "absent")}`,
    "providers[5].models[0] must be 1 to 194 characters long.",
    'providers[5].models[1] must not contain spaces or control characters: "a b".',
    "providers[5].models[2] must be a text.",
    "The content of providers[5].api_key_file must be one line of printable ASCII characters without spaces.",
    "providers[6] must be an object with name, base_url, api_key_file and models.",
    'models["none"] must have at least one provider/model.',
    'models["wrong"][0] must be provider/model.',
    'models["wrong"][1] names a provider that is not in the file: "nobody".',
    'models["wrong"][2] names default, but neither OPENAI_API_KEY nor OPENAI_BASE_URL is set.',
    'models["wrong"][4] is there twice: many/m.',
    'models["long"] must be a list of at most 12 entries.',
    'models["many/m"] must not begin with the name of a provider: that would be the provider\'s own model.',
    'models["text"] must be a list of at most 12 entries.',
  ]);
  expect(problems.join()).not.toContain("never shown");
});

test.each([
  ["{", "the file is not JSON."],
  ["[]", "the file must be a JSON object with providers and models."],
  ["{}", "providers is missing."],
])("%s is no such file", (text, problem) => {
  expect(problemsOf(text)[0]).toBe(`COMPANIOND_PROVIDERS_FILE: ${problem}`);
});

test("a file that is not there is a problem of the setting", () => {
  const load = () => loadConfig({ environment: { COMPANIOND_PROVIDERS_FILE: join(dir, "nowhere.json") } });
  expect(load).toThrow(`COMPANIOND_PROVIDERS_FILE: there is no such file: ${join(dir, "nowhere.json")}`);
});

test("files that are none, or have no end, are problems that name them", () => {
  const provider = { base_url: url, models: ["gpt"] };
  const providers = [
    { ...provider, name: "endless", api_key_file: "/dev/zero" },
    { ...provider, name: "folder", api_key_file: dir },
  ];
  expect(problemsOf({ providers })).toEqual([
    "COMPANIOND_PROVIDERS_FILE: providers[0].api_key_file: it is larger than 16 MiB: /dev/zero",
    `COMPANIOND_PROVIDERS_FILE: providers[1].api_key_file: it is a directory: ${dir}`,
  ]);
  expect(problemsOf({}, { COMPANIOND_PROVIDERS_FILE: "/dev/zero" })).toContain(
    "COMPANIOND_PROVIDERS_FILE: it is larger than 16 MiB: /dev/zero",
  );
});
