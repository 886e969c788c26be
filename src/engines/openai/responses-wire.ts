/** The Responses API, `POST {base_url}/responses`: what is sent, as far as the plan of the call goes. */
import type { ChatCompletionCreateParamsBase } from "openai/resources/chat/completions/completions";
import type { ResponseCreateParamsBase } from "openai/resources/responses/responses";
import type { ReplyRequest } from "../../contracts/llm/provider.ts";
import type { HistoryMessage } from "../../domain/conversation.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import type { ReasoningEffort } from "../../domain/reasoning.ts";
import type { OfferedTool } from "../../domain/tool.ts";
import { createResponsesReader } from "./responses-reader.ts";
import { toRoundItems, toRoundText, toSentMessages } from "./sent-messages.ts";
import type { CallPlan, Wire } from "./wire.ts";

/** Of the operator's members: the API's own name of the bound, and those that chats know. */
const boundNames = ["max_output_tokens", "max_tokens", "max_completion_tokens"] as const;

type TranslatedName = Exclude<(typeof boundNames)[number], "max_output_tokens"> | "reasoning_effort" | "verbosity";
type ChatOnlyName = Exclude<keyof ChatCompletionCreateParamsBase, keyof ResponseCreateParamsBase | TranslatedName>;

/** Members of a chat's request that the Responses API refuses, and that have no other name there. */
const chatOnlyNames: Readonly<Record<ChatOnlyName, true>> = {
  audio: true,
  frequency_penalty: true,
  function_call: true,
  functions: true,
  logit_bias: true,
  logprobs: true,
  messages: true,
  modalities: true,
  n: true,
  prediction: true,
  presence_penalty: true,
  response_format: true,
  seed: true,
  stop: true,
  web_search_options: true,
};

/** Those of the operator's own members, in their order; one of them keeps `auto` at chats. */
export function listChatOnlyNames(extra: JsonObject): string[] {
  return Object.keys(extra).filter((name) => Object.hasOwn(chatOnlyNames, name));
}

/** `leastOutputTokens`: OpenAI refuses a bound below 16. */
function buildResponsesBody(request: ReplyRequest, plan: CallPlan, leastOutputTokens: number): JsonObject {
  const { model, systemPrompt, messages } = request;
  const body: JsonObject = {
    model,
    ...(systemPrompt === null ? {} : { instructions: systemPrompt }),
    input: toInput(messages, plan),
    stream: true,
    ...(plan.sendsStore ? { store: false } : {}),
    ...(plan.effort === null ? {} : { reasoning: { effort: plan.effort satisfies ReasoningEffort } }),
    ...(plan.temperature === null ? {} : { temperature: plan.temperature }),
    ...(plan.form === null ? {} : { text: { format: { type: "json_schema", ...plan.form, strict: true } } }),
    ...(plan.sendsStreamOptions ? { stream_options: { include_obfuscation: false } } : {}),
  };
  mergeInto(body, translate(plan.extra));
  const { tools, include } = plan.extra;
  if (plan.tools.length > 0) body.tools = [...plan.tools.map(toFunction), ...(Array.isArray(tools) ? tools : [])];
  if (plan.sendsInclude) body.include = [sealedThoughts, ...(Array.isArray(include) ? include : [])];
  const bounds = boundNames.map((name) => plan.extra[name]).filter((bound) => typeof bound === "number");
  body.max_output_tokens = Math.max(leastOutputTokens, Math.min(plan.maxOutputTokens, ...bounds));
  return body;
}

/** Encrypted, since nothing is stored at the provider: they come back with the results of calls. */
const sealedThoughts = "reasoning.encrypted_content";

function toInput(messages: readonly HistoryMessage[], { rounds, flattensRounds, joinsRoles }: CallPlan): JsonValue[] {
  if (rounds.length === 0) return toSentMessages(messages, joinsRoles);
  if (flattensRounds) return toSentMessages([...messages, ...rounds.flatMap(toRoundText)], joinsRoles);
  return [...toSentMessages(messages, joinsRoles), ...rounds.flatMap(toRoundItems)];
}

/** The API would otherwise insist on schemas of its own kind. */
function toFunction({ name, description, parameters }: OfferedTool): JsonObject {
  return { type: "function", name, description, parameters, strict: false };
}

/** The operator's members under the names of this API; the bound is none of them. */
function translate(extra: JsonObject): JsonObject {
  const { reasoning_effort: effort, verbosity, stream_options: streamOptions, ...others } = extra;
  for (const name of boundNames) delete others[name];
  const translated: JsonObject = {};
  if (effort !== undefined) translated.reasoning = { effort };
  if (verbosity !== undefined) translated.text = { verbosity };
  if (isJsonObject(streamOptions)) {
    // Here usage comes unasked.
    const { include_usage: _, ...rest } = streamOptions;
    translated.stream_options = rest;
  } else if (streamOptions !== undefined) translated.stream_options = streamOptions;
  mergeInto(translated, others);
  return translated;
}

function mergeInto(target: JsonObject, source: JsonObject): void {
  for (const [name, value] of Object.entries(source)) {
    const own = target[name];
    target[name] = isJsonObject(own) && isJsonObject(value) ? { ...own, ...value } : value;
  }
}

/** `leastOutputTokens`: 16 at OpenAI, which refuses less; 1 elsewhere. */
export function createResponsesWire(leastOutputTokens: number): Wire {
  return {
    name: "responses",
    path: "/responses",
    buildBody: (request, plan) => buildResponsesBody(request, plan, leastOutputTokens),
    createReader: createResponsesReader,
  };
}
