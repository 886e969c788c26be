/** What answers: language models, voice, and the prices of both; and where else the server may ask. */
import type { JsonObject } from "../domain/companion.ts";
import { llmApis } from "../domain/llm-api.ts";
import { type ReasoningEffort, reasoningEfforts } from "../domain/reasoning.ts";
import type { AllowedHost } from "../lib/allowed-hosts.ts";
import { headerFields } from "./operator-values.ts";
import { optional, plain, type Setting, setting } from "./setting.ts";
import {
  allowedHosts,
  baseUrl,
  jsonObject,
  oneOf,
  path,
  requestFields,
  secret,
  wholeNumber,
  word,
  wordList,
} from "./values.ts";

/** The cheapest of OpenAI's current models that answers immediately: it takes every effort from `none` on. */
export const defaultModel = "gpt-6-luna";

export const modelSettings = {
  openaiKey: optional({
    variable: "OPENAI_API_KEY",
    isSecret: true,
    parse: secret,
    about:
      "The provider's key. Without any provider the built-in demo replies, and says so: on loopback, or with serve --demo.",
  }),
  openaiBaseUrl: optional({
    variable: "OPENAI_BASE_URL",
    parse: baseUrl,
    about:
      "Any OpenAI-compatible endpoint, up to and including /v1 (http://127.0.0.1:11434/v1 for Ollama); without it, OpenAI " +
      "itself. With it, the key is optional.",
  }),
  model: plain(
    "COMPANIOND_MODEL",
    defaultModel,
    word,
    "The model for companions that name none; the default is the small one of OpenAI's GPT-6 family.",
  ),
  models: optional({
    variable: "COMPANIOND_MODELS",
    parse: wordList,
    about: "Further models that companions may use, separated by commas; COMPANIOND_MODEL is always allowed.",
  }),
  maxOutputTokens: plain(
    "COMPANIOND_MAX_OUTPUT_TOKENS",
    4096,
    wholeNumber(1, 10_000_000),
    "The longest reply that a companion may request, in tokens; also the default.",
  ),
  maxContextTokens: plain(
    "COMPANIOND_MAX_CONTEXT_TOKENS",
    200_000,
    wholeNumber(1, 10_000_000),
    "The largest context_tokens of a companion; of what was set before, no more than this is used.",
  ),
  llmApi: plain(
    "COMPANIOND_LLM_API",
    "auto",
    oneOf(llmApis),
    "Which API the provider is asked by: responses, chat (Chat Completions), or auto: responses at OpenAI and Azure.",
  ),
  reasoningEffort: optional<ReasoningEffort>({
    variable: "COMPANIOND_REASONING_EFFORT",
    parse: oneOf(reasoningEfforts),
    about:
      "How long models think before they answer, where a companion does not set it: none, minimal, low, medium, high, xhigh " +
      "or max. Without it, as little as they can over responses, and their own default over chat.",
  }),
  reasoningTokens: plain(
    "COMPANIOND_REASONING_TOKENS",
    8192,
    wholeNumber(0, 128_000),
    "Room to think, in tokens: added to the bound of a reply where the model thinks before it answers.",
  ),
  llmExtra: setting<JsonObject>({
    variable: "COMPANIOND_LLM_EXTRA",
    parse: jsonObject(requestFields),
    fallback: {},
    defaultText: "",
    about: 'A JSON object merged into every request to the provider, such as {"service_tier":"flex"}.',
  }),
  llmHeaders: setting<Readonly<Record<string, string>>>({
    variable: "COMPANIOND_LLM_HEADERS",
    isSecret: true,
    parse: headerFields,
    fallback: {},
    defaultText: "",
    about: 'A JSON object of headers added to every request to the provider, such as {"x-team":"support"}.',
  }),
  providersFile: optional({
    variable: "COMPANIOND_PROVIDERS_FILE",
    parse: path,
    about:
      "A JSON file that names further providers, and chains of models that stand in for one another; see docs/providers.md.",
  }),
  prices: optional<JsonObject>({
    variable: "COMPANIOND_PRICES",
    hasFile: true,
    parse: jsonObject([]),
    about:
      "What models cost, in US dollars per million tokens, and voice per minute, as JSON; see docs/providers.md. " +
      '{"gpt-6-luna":{"input":0.1,"cached_input":0.01,"output":0.5},"voice/elevenlabs":{"minute":0.1}}',
  }),
} satisfies Record<string, Setting<unknown>>;

export const voiceSettings = {
  elevenlabsKey: optional({
    variable: "ELEVENLABS_API_KEY",
    isSecret: true,
    parse: secret,
    about: "The voice-agent provider's key. Without it companions have no voice.",
  }),
  elevenlabsBaseUrl: plain(
    "ELEVENLABS_BASE_URL",
    "https://api.elevenlabs.io",
    baseUrl,
    "The voice-agent provider's address.",
  ),
  elevenlabsWebhookSecret: optional({
    variable: "ELEVENLABS_WEBHOOK_SECRET",
    isSecret: true,
    parse: secret,
    about: "Verifies that transcripts come from the voice-agent provider; without it none are accepted.",
  }),
} satisfies Record<string, Setting<unknown>>;

export const knowledgeSettings = {
  embeddingModel: optional({
    variable: "COMPANIOND_EMBEDDING_MODEL",
    parse: word,
    about:
      "A model of the provider above that turns texts into vectors, such as text-embedding-3-small: knowledge is then " +
      "found by its meaning too. Without it, by its words alone. After a change, everything is embedded again.",
  }),
  privateSources: setting<readonly AllowedHost[]>({
    variable: "COMPANIOND_PRIVATE_SOURCES",
    parse: allowedHosts,
    fallback: [],
    defaultText: "",
    about:
      "Sources are read from public addresses only. These are the exceptions: hosts with or without a port, and ranges of " +
      "addresses, separated by commas, such as wiki.internal:8080,10.1.0.0/16. Link-local addresses are never read from.",
  }),
} satisfies Record<string, Setting<unknown>>;

export const outgoingSettings = {
  privateTargets: setting<readonly AllowedHost[]>({
    variable: "COMPANIOND_PRIVATE_TARGETS",
    parse: allowedHosts,
    fallback: [],
    defaultText: "",
    about:
      "Tools and webhooks are called at public addresses only, over https. These are the exceptions, over http too: hosts " +
      "with or without a port, and ranges of addresses, separated by commas. Link-local addresses are never called.",
  }),
} satisfies Record<string, Setting<unknown>>;
