/** The events that a client gets for the calls of a stored reply, as its stream had them. */
import { confirmableMs, readArguments, titleOfCall } from "../../domain/tool.ts";
import type { Services } from "../dependencies.ts";
import type { NamedEvent } from "../turns/events.ts";

/** How each call ended, and what the visitor may still decide on. */
export async function listCallEvents(
  { store, clock }: Pick<Services, "store" | "clock">,
  companionId: string,
  replyId: string,
): Promise<NamedEvent[]> {
  const calls = (await store.toolCalls.listOfReplies([replyId])).get(replyId) ?? [];
  const isWaiting = calls.some(({ state }) => state === "waiting");
  const tools = isWaiting ? await store.tools.listAll(companionId) : [];
  const sinceMs = clock.nowMs() - confirmableMs;
  const events: NamedEvent[] = [];
  for (const { id: callId, toolId, tool, state, createdAt, ...call } of calls) {
    if (state === "waiting") {
      const known = tools.find(({ id }) => id === toolId);
      if (known === undefined || createdAt < sinceMs) continue;
      const title = titleOfCall(known, tool);
      events.push({ type: "confirm", callId, tool, title, arguments: readArguments(call.arguments) ?? {} });
    } else if (state !== "declined") events.push({ type: "tool", callId, name: tool, state });
  }
  return events;
}
