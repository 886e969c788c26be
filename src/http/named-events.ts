/** Named events of a reply's stream as bytes, for clients that asked for them. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { NamedEvent } from "../core/turns/events.ts";
import { conversationStates, stateReasons, type VisitorState } from "../domain/handoff.ts";
import { later } from "../lib/later.ts";
import { OneOf } from "./schemas/schema.ts";

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

/** Of `event: state`, on every stream of a visitor. */
export const ChatState = later(() => {
  const instant = (description: string) =>
    t.Union([t.String({ format: "date-time", examples: ["2026-11-30T09:00:00.000Z"] }), t.Null()], { description });
  return t.Object(
    {
      state: OneOf(conversationStates, {
        description: "Who answers: the companion, or a person, or no one yet: then a person was asked for.",
      }),
      person: t.Union([t.Object({ name: t.String({ examples: ["Grace"] }) }), t.Null()], {
        description: "Who has the conversation; null unless `state` is `person`.",
      }),
      since: instant("When the state became what it is; null if no person ever had to do with the conversation."),
      until: instant("When the wait for a person ends, or a silence; null where no deadline runs."),
      reason: t.Union([OneOf(stateReasons), t.Null()], { description: "Why the state is what it is." }),
    },
    {
      $id: "ChatState",
      description:
        "Of `event: state`. A reply's stream has it before its end, for who sent `events: true`, where the companion does not " +
        "answer the conversation any more; a message that was kept for a person has nothing else.",
    },
  );
});

/** As every stream of the visitor's sends it. */
export function toWireState({ state, personName, sinceMs, untilMs, reason }: VisitorState): Static<typeof ChatState> {
  return {
    state,
    person: personName === null ? null : { name: personName },
    since: sinceMs === null ? null : new Date(sinceMs).toISOString(),
    until: untilMs === null ? null : new Date(untilMs).toISOString(),
    reason,
  };
}
