/** Named events of a reply's stream as bytes, for clients that asked for them. */
import type { NamedEvent } from "../core/turns/events.ts";

export function frameNamedEvent(event: NamedEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(toWire(event))}\n\n`;
}

function toWire(event: NamedEvent) {
  if (event.type === "sources") return { sources: event.sources };
  const { callId: call_id } = event;
  if (event.type === "tool") return { call_id, name: event.name, state: event.state };
  return { call_id, tool: event.tool, title: event.title, arguments: event.arguments };
}
