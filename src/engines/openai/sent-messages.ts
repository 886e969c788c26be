/** The messages of a request, with earlier rounds of calls: as calls and results or, for a model that takes none, in words. */
import { type HistoryMessage, type MessageRole, textOf, textParts } from "../../domain/conversation.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { isJsonText } from "./asked-calls.ts";
import type { SentRound } from "./wire.ts";

/** As they are; or, for a model that wants them in turn, those of one side in a row as one. */
export function toSentMessages(messages: readonly HistoryMessage[], joinsRoles: boolean) {
  const sent: { role: MessageRole; content: string }[] = [];
  for (const message of messages) {
    const last = sent.at(-1);
    const content = textOf(message);
    if (joinsRoles && last?.role === message.role) last.content += `\n\n${content}`;
    else sent.push({ role: message.role, content });
  }
  return sent;
}

/** For chats: the model's answer, and a message for each result. */
export function toRoundMessages({ text, calls, carry }: SentRound): JsonObject[] {
  const { thoughts, signed } = carry ?? {};
  const answer: JsonObject = {
    role: "assistant",
    content: text === "" ? null : text,
    ...(isJsonObject(thoughts) ? thoughts : {}),
    tool_calls: calls.map(({ id, name, arguments: args }, index) => ({
      id,
      type: "function",
      function: { name, arguments: toSentArguments(args) },
      ...signatureOf(signed, index),
    })),
  };
  return [answer, ...calls.map(({ id, result }) => ({ role: "tool", tool_call_id: id, content: result }))];
}

/** For the Responses API: the model's whole output, as it came, or what is known of it; then the results. */
export function toRoundItems({ text, calls, carry }: SentRound): JsonValue[] {
  const said = text === "" ? [] : [{ role: "assistant", content: text }];
  const items = Array.isArray(carry?.items)
    ? carry.items
    : [
        ...said,
        ...calls.map(({ id, name, arguments: args }) => ({
          ...{ type: "function_call", call_id: id, name },
          arguments: toSentArguments(args),
        })),
      ];
  return [...items, ...calls.map(({ id, result }) => ({ type: "function_call_output", call_id: id, output: result }))];
}

/** One message of each side, since templates that know no calls want them in turn. */
export function toRoundText({ text, calls }: SentRound): HistoryMessage[] {
  const asked = calls.map(({ name, arguments: args }) => `Called ${name} with ${args}`);
  const results = calls.map(({ name, result }) => `Result of ${name}: ${result}`);
  const toMessage = (role: HistoryMessage["role"], lines: readonly string[]) => ({
    role,
    parts: textParts(lines.filter((line) => line !== "").join("\n\n")),
  });
  return [toMessage("assistant", [text, ...asked]), toMessage("user", results)];
}

/** What is no JSON is an error to many servers, and the result reports that it was none. */
function toSentArguments(args: string): string {
  return isJsonText(args) ? args : "{}";
}

function signatureOf(signed: JsonValue | undefined, index: number): JsonObject {
  const signature = Array.isArray(signed) ? signed[index] : null;
  return isJsonObject(signature) ? signature : {};
}
