/** Chat Completions: `POST {base_url}/chat/completions`, which nearly every provider speaks. */
import type { ReplyRequest } from "../../contracts/llm/provider.ts";
import type { JsonObject, JsonValue } from "../../domain/companion.ts";
import { chatReader } from "./chat-reader.ts";
import { toSentMessages } from "./sent-messages.ts";
import type { CallPlan, Wire } from "./wire.ts";

export const chatWire: Wire = {
  name: "chat",
  path: "/chat/completions",
  buildBody: buildChatBody,
  createReader: () => chatReader,
};

function buildChatBody(request: ReplyRequest, plan: CallPlan): JsonObject {
  const body: JsonObject = { model: request.model, messages: toMessages(request, plan), stream: true };
  if (plan.temperature !== null) body.temperature = plan.temperature;
  if (plan.effort !== null) body.reasoning_effort = plan.effort;
  if (plan.stop.length > 0) body.stop = [...plan.stop];
  if (plan.sendsStore) body.store = false;
  Object.assign(body, plan.extra);
  body[plan.boundName] = plan.maxOutputTokens;
  if (plan.sendsStreamOptions) body.stream_options = { include_usage: true, ...asObject(plan.extra.stream_options) };
  return body;
}

function toMessages({ systemPrompt, messages }: ReplyRequest, { systemRole, joinsRoles }: CallPlan): JsonValue[] {
  const sent = toSentMessages(messages, joinsRoles);
  if (systemPrompt === null) return sent;
  if (systemRole !== "user") return [{ role: systemRole, content: systemPrompt }, ...sent];
  // In one message with it: who knows no instructions often wants a question and an answer in turn.
  const first = sent.findIndex(({ role }) => role === "user");
  const asked = sent[first];
  if (asked === undefined) return [{ role: "user", content: systemPrompt }, ...sent];
  return sent.with(first, { role: "user", content: `${systemPrompt}\n\n${asked.content}` });
}

function asObject(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
