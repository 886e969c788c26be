/** Calls of tools on the wire, in transcripts and among the last calls of a tool. */
import { Type as t } from "@sinclair/typebox";
import { type JsonObject, parseJsonObject } from "../../domain/json.ts";
import { type ToolCall, toolCallStates } from "../../domain/tool.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { Nullable, Text } from "./schema.ts";

export const toolCallFields = () => ({
  call_id: t.String({ description: "The `webhook-id` of the request, the same in each attempt." }),
  tool: t.String({ description: "As the model called it.", examples: ["find_order"] }),
  arguments: Nullable(
    t.Unsafe<JsonObject>(
      t.Object({}, { additionalProperties: true, description: "As they were sent.", examples: [{ number: "4711" }] }),
    ),
  ),
  result: Nullable(
    t.String({
      description: "What the model received; null until there is a result.",
      examples: ['{"state":"sent"}'],
    }),
  ),
  state: Text({
    enum: toolCallStates,
    description:
      "`waiting`: the visitor has not decided. `running`: it was sent, or is about to be; also if the server stopped " +
      "meanwhile. `done`, `failed`: how it ended. `declined`: by the visitor.",
  }),
  created_at: t.String({ format: "date-time", description: "When the model asked for it." }),
});

export function toWireToolCall(call: ToolCall) {
  return {
    call_id: call.id,
    tool: call.tool,
    arguments: parseJsonObject(call.arguments),
    result: call.result,
    state: call.state,
    created_at: toRfc3339(call.createdAt),
  };
}
