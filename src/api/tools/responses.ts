/** Tools and their calls in responses: never their secrets, and of their headers the names alone. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { Tool as StoredTool, ToolCall } from "../../domain/tool.ts";
import { instant, namedObject } from "../../http/schemas/named-object.ts";
import { Nullable } from "../../http/schemas/schema.ts";
import { toolCallFields, toWireToolCall } from "../../http/schemas/tool-call.ts";
import { shownToolFields } from "../../http/schemas/tool-fields.ts";
import { toWireToolSettings } from "../../http/schemas/tool-settings.ts";
import { toRfc3339 } from "../../lib/clock.ts";

const makeFields = () => ({
  id: t.String({ format: "uuid", examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"] }),
  companion_id: t.String({ format: "uuid", examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"] }),
  ...shownToolFields(),
  created_at: instant("When it was added."),
  updated_at: instant("When it was last changed."),
});

export const ToolObject = namedObject("Tool", makeFields, { additionalProperties: false });

export const ToolWithSecretObject = namedObject(
  "ToolWithSecret",
  () => ({
    ...makeFields(),
    secret: t.Optional(
      t.String({
        pattern: "^whsec_[0-9A-Za-z+/]{43}=$",
        description:
          "Signs calls, as in Standard Webhooks. Shown only this once; a replay by `Idempotency-Key` omits it.",
        examples: ["whsec_pXW9v0q4m2h3Jt6bYcN1sR8kLwZxUe5oDaFgHiTjKQ0="],
      }),
    ),
  }),
  { additionalProperties: false },
);

export const ToolCallObject = namedObject("ToolCallRecord", () => ({
  ...toolCallFields(),
  duration_ms: Nullable(t.Integer({ description: "From the first attempt to the answer; null until then." })),
  conversation_id: Nullable(
    t.String({ format: "uuid", description: "Null while nothing of the conversation is stored." }),
  ),
}));

export const ToolTestObject = namedObject("ToolTest", () => ({
  ok: t.Boolean({ description: "Whether the tool returned a result." }),
  result: t.String({ description: "The result, or why there is none.", examples: ['{"state":"shipped"}'] }),
  duration_ms: t.Integer({ minimum: 0, examples: [120] }),
}));

export type Tool = Static<typeof ToolObject>;
export type ToolWithSecret = Static<typeof ToolWithSecretObject>;
export type ToolCallRecord = Static<typeof ToolCallObject>;
export type ToolTest = Static<typeof ToolTestObject>;

export function toWireTool(tool: StoredTool) {
  const { timeout_ms, confirm, requires_visitor, ...settings } = toWireToolSettings(tool);
  return {
    ...{ id: tool.id, companion_id: tool.companionId },
    ...settings,
    header_names: tool.headerNames,
    ...{ timeout_ms, confirm, requires_visitor },
    created_at: toRfc3339(tool.createdAt),
    updated_at: toRfc3339(tool.updatedAt),
  };
}

export function toWireCallRecord(call: ToolCall & { conversationId: string | null }) {
  return { ...toWireToolCall(call), duration_ms: call.durationMs, conversation_id: call.conversationId };
}
