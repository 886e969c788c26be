/** The body of a request: what the companion asks for, what the operator adds, what the provider is known to refuse. */
import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import type { JsonObject, JsonValue } from "../domain/companion.ts";
import { textOf } from "../domain/conversation.ts";
import type { ReplyRequest } from "./provider.ts";

/** What a model was found to refuse; learnt from its answers and kept for the process. */
export interface ModelQuirks {
  refusesStreamOptions: boolean;
  refusesMaxTokens: boolean;
}

type BoundName = "max_tokens" | "max_completion_tokens";

export interface RequestRules {
  /** OpenAI's own API deprecates `max_tokens` and its reasoning models refuse it; others may know nothing else. */
  boundName: BoundName;
  /** Merged over everything. */
  extra: JsonObject;
}

export function buildRequestBody(
  request: ReplyRequest,
  rules: RequestRules,
  quirks: ModelQuirks,
): ChatCompletionCreateParamsStreaming {
  const { extra } = rules;
  const body: ChatCompletionCreateParamsStreaming = {
    model: request.model,
    messages: [
      ...(request.systemPrompt === null ? [] : [{ role: "system" as const, content: request.systemPrompt }]),
      ...request.messages.map((message) => ({ role: message.role, content: textOf(message) })),
    ],
    stream: true,
  };
  if (request.temperature !== null) body.temperature = request.temperature;
  Object.assign(body, extra);

  // The operator may choose the bound's name and lower it, but never lifts a companion's own.
  const boundName: BoundName =
    "max_completion_tokens" in extra
      ? "max_completion_tokens"
      : "max_tokens" in extra
        ? "max_tokens"
        : quirks.refusesMaxTokens
          ? "max_completion_tokens"
          : rules.boundName;
  const operatorBound = extra[boundName];
  body[boundName] =
    typeof operatorBound === "number" ? Math.min(operatorBound, request.maxOutputTokens) : request.maxOutputTokens;

  if (quirks.refusesStreamOptions) delete body.stream_options;
  else body.stream_options = { include_usage: true, ...asObject(extra.stream_options) };
  return body;
}

/**
 * Whether a 400 names a parameter that we can do without; notes it then. Compatible servers ignore what they do not
 * know or refuse it, and some gateways pass requests on to models that refuse the older name of the bound.
 */
export function learnFromRefusal(
  detail: string,
  body: ChatCompletionCreateParamsStreaming,
  quirks: ModelQuirks,
): boolean {
  if (body.stream_options !== undefined && detail.includes("stream_options")) {
    quirks.refusesStreamOptions = true;
    return true;
  }
  if (body.max_tokens !== undefined && !quirks.refusesMaxTokens && detail.includes("max_completion_tokens")) {
    quirks.refusesMaxTokens = true;
    return true;
  }
  return false;
}

function asObject(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
