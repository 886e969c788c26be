/** The body of a request: what the companion and the operator want, without what the provider is known to refuse. */
import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import type { JsonObject, JsonValue } from "../domain/companion.ts";
import { type HistoryMessage, type MessageRole, textOf } from "../domain/conversation.ts";
import type { ReplyRequest } from "./provider.ts";

/** Parameters that a model refuses; learnt from its responses and kept for the process. */
export interface ModelQuirks {
  refusesStreamOptions: boolean;
  refusesMaxTokens: boolean;
  /** Templates of some open models want a question and an answer in turn. */
  refusesRepeatedRoles: boolean;
}

type BoundName = "max_tokens" | "max_completion_tokens";

export interface RequestRules {
  /** OpenAI's own API deprecates `max_tokens` and its reasoning models refuse it; others may know only that name. */
  boundName: BoundName;
  /** Merged over everything else. */
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
      ...toMessages(request.messages, quirks),
    ],
    stream: true,
  };
  if (request.temperature !== null) body.temperature = request.temperature;
  if (request.stop !== undefined && request.stop.length > 0) body.stop = [...request.stop];
  Object.assign(body, extra);

  // The operator may choose the name of the limit and lower it, but never raise a companion's own.
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

/** As they are; or, for a model that wants them in turn, those of one side in a row as one. */
function toMessages(messages: readonly HistoryMessage[], { refusesRepeatedRoles }: ModelQuirks) {
  const sent: { role: MessageRole; content: string }[] = [];
  for (const message of messages) {
    const last = sent.at(-1);
    const content = textOf(message);
    if (refusesRepeatedRoles && last?.role === message.role) last.content += `\n\n${content}`;
    else sent.push({ role: message.role, content });
  }
  return sent;
}

/**
 * Whether a refusal names a parameter that we can do without; if so, remembers it. Compatible servers ignore or refuse what
 * they do not know, and some gateways pass requests on to models that refuse the older name of the limit.
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
  if (!quirks.refusesRepeatedRoles && /\broles? must alternate\b/i.test(detail) && hasRepeatedRole(body)) {
    quirks.refusesRepeatedRoles = true;
    return true;
  }
  if (body.max_tokens !== undefined && !quirks.refusesMaxTokens && detail.includes("max_completion_tokens")) {
    quirks.refusesMaxTokens = true;
    return true;
  }
  return false;
}

function hasRepeatedRole({ messages }: ChatCompletionCreateParamsStreaming): boolean {
  return messages.some(({ role }, index) => role === messages[index + 1]?.role);
}

function asObject(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
