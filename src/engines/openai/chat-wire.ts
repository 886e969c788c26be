/** Chat Completions: `POST {base_url}/chat/completions`, which nearly every provider speaks. */
import type { ReplyRequest } from "../../contracts/llm/provider.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { createChatReader } from "./chat-reader.ts";
import { toRoundMessages, toRoundText, toSentMessages } from "./sent-messages.ts";
import type { CallPlan, Wire } from "./wire.ts";

export const chatWire: Wire = {
  name: "chat",
  path: "/chat/completions",
  buildBody: buildChatBody,
  createReader: createChatReader,
};

function buildChatBody(request: ReplyRequest, plan: CallPlan): JsonObject {
  const body: JsonObject = { model: request.model, messages: toMessages(request, plan), stream: true };
  if (plan.temperature !== null) body.temperature = plan.temperature;
  if (plan.effort !== null) body.reasoning_effort = plan.effort;
  if (plan.stop.length > 0) body.stop = [...plan.stop];
  if (plan.sendsStore) body.store = false;
  if (plan.form !== null) body.response_format = { type: "json_schema", json_schema: { ...plan.form, strict: true } };
  Object.assign(body, plan.extra);
  body[plan.boundName] = plan.maxOutputTokens;
  const { tools: ownTools, stream_options: own } = plan.extra;
  if (plan.tools.length > 0) {
    const offered = plan.tools.map(({ name, description, parameters }): JsonObject => {
      return { type: "function", function: { name, description, parameters } };
    });
    body.tools = Array.isArray(ownTools) ? [...offered, ...ownTools] : offered;
  }
  if (plan.sendsStreamOptions) body.stream_options = { include_usage: true, ...(isJsonObject(own) ? own : {}) };
  return body;
}

function toMessages(request: ReplyRequest, plan: CallPlan): JsonObject[] {
  const { systemPrompt } = request;
  const { systemRole } = plan;
  const sent: JsonObject[] = toConversation(request, plan);
  if (systemPrompt === null) return sent;
  if (systemRole !== "user") return [{ role: systemRole, content: systemPrompt }, ...sent];
  // In one message with it: who knows no instructions often wants a question and an answer in turn.
  const first = sent.findIndex(({ role }) => role === "user");
  const asked = sent[first];
  if (asked === undefined) return [{ role: "user", content: systemPrompt }, ...sent];
  return sent.with(first, { role: "user", content: `${systemPrompt}\n\n${asked.content}` });
}

function toConversation({ messages }: ReplyRequest, { rounds, flattensRounds, joinsRoles }: CallPlan): JsonObject[] {
  if (rounds.length === 0) return toSentMessages(messages, joinsRoles);
  if (flattensRounds) return toSentMessages([...messages, ...rounds.flatMap(toRoundText)], joinsRoles);
  const sent: JsonObject[] = toSentMessages(messages, joinsRoles);
  const called = rounds.flatMap(toRoundMessages);
  const [first] = called;
  const last = sent.at(-1);
  if (joinsRoles && first !== undefined && last?.role === "assistant") {
    sent.pop();
    first.content = [last.content, first.content].filter((text) => text !== null).join("\n\n");
  }
  return [...sent, ...called];
}
