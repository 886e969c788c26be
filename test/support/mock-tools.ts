/** Tools at the mock provider: which calls a message demands, what came of them, and what the real APIs refuse of that. */
import type { MockRequest } from "./mock-llm-replies.ts";
import { openAiError, type Refusal } from "./mock-models.ts";

export interface MockCall {
  id: string;
  name: string;
  arguments: string;
}

type Fields = Record<string, unknown>;

/** What follows the visitor's last message: how often the model has called since, and what it received. */
export function readRounds({ body }: Pick<MockRequest, "body">): { rounds: number; results: string[] } {
  const said = listItems(body);
  const turn = said.slice(said.findLastIndex(({ role }) => role === "user") + 1);
  let rounds = 0;
  let isAsking = false;
  for (const item of turn) {
    const asks = item.type === "function_call" || Array.isArray(item.tool_calls);
    if (asks && !isAsking) rounds++;
    isAsking = asks;
  }
  return { rounds, results: turn.filter(isResult).map(({ content, output }) => String(content ?? output)) };
}

/** `[[call:name {"a":1}]]`, as often as it is there, where the request has tools and the rounds are not over. */
export function callsOf(request: MockRequest): MockCall[] {
  const { tools } = request.body;
  const { rounds } = readRounds(request);
  const wanted = Number(/\[\[rounds:(\d+)\]\]/.exec(request.userText)?.[1] ?? 1);
  if (!Array.isArray(tools) || rounds >= wanted) return [];
  const asked = [...request.userText.matchAll(/\[\[call:([\w-]+) ?([^\]]*)\]\]/g)];
  return asked.map(([, name = "", args = ""], index) => ({
    id: `call_mock${request.index}x${index}`,
    name,
    arguments: args === "" ? "{}" : args,
  }));
}

/** Whether it is a message or item that brings what came of a call. */
export function isResult({ role, type }: Fields): boolean {
  return role === "tool" || type === "function_call_output";
}

export function listItems({ messages, input }: Fields): Fields[] {
  const items = messages ?? input;
  return Array.isArray(items) ? items.filter((item) => typeof item === "object" && item !== null) : [];
}

/** What Chat Completions refuse of any request, for every model. */
export function refuseToolMessages(body: Fields): Refusal | null {
  const refusal = refuseTools(body, (tool) => tool.function as Fields | undefined);
  if (refusal !== null) return refusal;
  let waiting: string[] = [];
  for (const [index, message] of listItems(body).entries()) {
    if (message.role === "tool") {
      if (!waiting.includes(String(message.tool_call_id))) {
        const text =
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
        return openAiError(400, text, `messages.[${index}].role`, null);
      }
      waiting = waiting.filter((id) => id !== message.tool_call_id);
      continue;
    }
    if (waiting.length > 0) return unanswered(waiting, index);
    if (message.tool_calls === undefined) continue;
    const calls = message.tool_calls as { id?: unknown; function?: Fields }[];
    if (calls.length === 0) return invalid(`[] is too short - 'messages.${index}.tool_calls'`);
    const broken = calls.find((call) => typeof call.id !== "string" || typeof call.function?.arguments !== "string");
    if (broken) return invalid(`Invalid type for 'messages[${index}].tool_calls[0].function.arguments'.`);
    waiting = calls.map(({ id }) => String(id));
  }
  return waiting.length > 0 ? unanswered(waiting, listItems(body).length) : null;
}

/** The same of the Responses API; every response is as if it had not been stored. */
export function refuseItems(body: Fields): Refusal | null {
  const refusal = refuseTools(body, (tool) => tool);
  if (refusal !== null) return refusal;
  const items = listItems(body);
  const called = items.filter(({ type }) => type === "function_call").map((item) => item.call_id);
  const answered = items.filter(isResult).map((item) => item.call_id);
  for (const [index, item] of items.entries()) {
    const { id, type, encrypted_content: sealed, call_id: callId } = item;
    if (type === "item_reference" || (type === "reasoning" && typeof sealed !== "string")) {
      const why = "Items are not persisted when `store` is set to false.";
      const what = "Try again with `store` set to true, or remove this item from your input.";
      return openAiError(404, `Item with id '${id}' not found. ${why} ${what}`, "input", null);
    }
    if (type === "reasoning" && !String(sealed).startsWith(sealedMark)) {
      const text = `The encrypted content for item ${id} could not be verified.`;
      return openAiError(400, text, null, "invalid_encrypted_content");
    }
    if (type === "reasoning" && (items[index + 1] === undefined || isResult(items[index + 1] ?? {}))) {
      return invalid(`Item '${id}' of type 'reasoning' was provided without its required following item.`);
    }
    if (type === "function_call_output" && !called.includes(callId)) {
      return invalid(`No tool call found for function call output with call_id ${callId}.`);
    }
    if (type === "function_call" && !answered.includes(callId)) {
      return invalid(`No tool output found for function call ${callId}.`);
    }
    if (type === "function_call" && typeof item.arguments !== "string") {
      return invalid(`Invalid type for 'input[${index}].arguments': expected a string.`);
    }
  }
  return null;
}

/** How what the mock has encrypted begins. */
export const sealedMark = "gAAAAABmock";

function refuseTools({ tools }: Fields, functionOf: (tool: Fields) => Fields | undefined): Refusal | null {
  if (tools === undefined) return null;
  if (!Array.isArray(tools) || tools.length === 0) return invalid("[] is too short - 'tools'");
  for (const [index, tool] of (tools as Fields[]).entries()) {
    const { name, parameters } = functionOf(tool) ?? {};
    if (tool.type !== "function" || typeof name !== "string" || !/^[\w-]{1,64}$/.test(name)) {
      return openAiError(400, `Invalid value for 'tools[${index}]'.`, `tools[${index}]`, "invalid_value");
    }
    const { type } = (parameters ?? {}) as Fields;
    if (parameters === undefined || type === "object") continue;
    const text = `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: "${type}"'.`;
    return openAiError(400, text, `tools[${index}].function.parameters`, "invalid_function_parameters");
  }
  return null;
}

function unanswered(ids: readonly string[], index: number): Refusal {
  const rule =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
  const text = `${rule} The following tool_call_ids did not have response messages: ${ids.join(", ")}`;
  return openAiError(400, text, `messages.[${index}].role`, null);
}

function invalid(message: string): Refusal {
  return openAiError(400, message, null, null);
}
