/** Tools on the wire: never their secrets, and of their headers the names alone. */
import type { Tool, ToolCall } from "../../domain/tool.ts";
import { toWireToolCall } from "../../http/schemas/tool-call.ts";
import { toWireToolSettings } from "../../http/schemas/tool-settings.ts";
import { toRfc3339 } from "../../lib/clock.ts";

export function toWireTool(tool: Tool) {
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
