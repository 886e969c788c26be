/** Tools and their calls, as the store is given them. */

import type { ConversationKey } from "../../src/domain/conversation.ts";
import type { Tool, ToolCall } from "../../src/domain/tool.ts";
import { systemIds } from "../../src/lib/ids.ts";
import type { StoreWorld } from "./store-world.ts";

export function newTool(companionId: string, nowMs: number, fields: Partial<Tool> = {}): Tool {
  const { name = `tool_${systemIds.secret(6).toLowerCase()}` } = fields;
  return {
    id: systemIds.uuid(),
    companionId,
    name,
    title: name,
    target: {
      type: "http",
      url: "https://shop.example/orders",
      description: "Looks an order up.",
      parameters: { type: "object", properties: { order: { type: "string" } } },
    },
    sealedHeaders: null,
    headerNames: [],
    sealedSecret: "v1.sealed",
    timeoutMs: 10_000,
    confirm: false,
    requiresVisitor: false,
    createdAt: nowMs,
    updatedAt: nowMs,
    ...fields,
  };
}

export function newCall(tool: Pick<Tool, "id" | "name">, nowMs: number, fields: Partial<ToolCall> = {}): ToolCall {
  const asked = { id: systemIds.uuid(), toolId: tool.id, tool: tool.name, arguments: '{"order":"7"}' };
  return { ...asked, result: null, state: "running", durationMs: null, createdAt: nowMs, ...fields };
}

/** A turn whose reply has called the tool once; it is stored by default. */
export async function callInTurn(
  { store, clock, turnOf }: Pick<StoreWorld, "store" | "clock" | "turnOf">,
  {
    companion,
    tool,
    key,
    call: fields = {},
    isStored = true,
  }: {
    companion: Parameters<StoreWorld["turnOf"]>[0];
    tool: Tool;
    key?: ConversationKey;
    call?: Partial<ToolCall>;
    isStored?: boolean;
  },
) {
  const turn = turnOf(companion, { messageId: systemIds.randomUuid(), ...(key && { key }) });
  const call = newCall(tool, clock.nowMs(), fields);
  const reply = { key: turn.key, replyId: turn.messages[1]?.id ?? "", messageId: turn.messageId };
  await store.toolCalls.begin(reply, [call]);
  if (isStored) await store.turns.settle(turn);
  return { turn, call, reply };
}
