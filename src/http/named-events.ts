/** Named events of a reply's stream as bytes, for clients that asked for them. */
import type { NamedEvent } from "../core/turns/events.ts";
import type { VisitorState } from "../domain/handoff.ts";

export function frameNamedEvent(event: NamedEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(toWire(event))}\n\n`;
}

function toWire(event: NamedEvent) {
  if (event.type === "sources") return { sources: event.sources };
  if (event.type === "offer") return {};
  if (event.type === "state") return toWireState(event.state);
  const { callId: call_id } = event;
  if (event.type === "tool") return { call_id, name: event.name, state: event.state };
  return { call_id, tool: event.tool, title: event.title, arguments: event.arguments };
}

/** As every stream of the visitor's sends it. */
export function toWireState({ state, personName, sinceMs, untilMs, reason }: VisitorState) {
  return {
    state,
    person: personName === null ? null : { name: personName },
    since: sinceMs === null ? null : new Date(sinceMs).toISOString(),
    until: untilMs === null ? null : new Date(untilMs).toISOString(),
    reason,
  };
}
