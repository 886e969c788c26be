/** What a visitor who asks for a person is answered. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { Asked } from "../../core/people/people.ts";
import type { Companion } from "../../domain/companion.ts";
import { conversationStates } from "../../domain/handoff.ts";
import { namedObject } from "../../http/schemas/named-object.ts";
import { OneOf } from "../../http/schemas/schema.ts";

const instant = (description: string) =>
  t.Union([t.String({ format: "date-time", examples: ["2026-11-30T09:00:00.000Z"] }), t.Null()], { description });

export const PersonAsked = namedObject("PersonAsked", () => ({
  state: OneOf(conversationStates, { description: "Who answers the conversation now." }),
  until: instant("When the wait for a person ends, or a silence; null where no deadline runs."),
  available: t.Boolean({ description: "Whether a person is available." }),
  reopens_at: instant("When the team is there again; null while it is, and where that is not known."),
  contact: t.Boolean({ description: "Whether the visitor may leave a contact now." }),
}));
export type PersonAsked = Static<typeof PersonAsked>;

export function toWirePersonAsked(
  { state, untilMs, isAvailable, reopensAtMs }: Asked,
  { leads }: Pick<Companion, "leads">,
): PersonAsked {
  return {
    state,
    until: untilMs === null ? null : new Date(untilMs).toISOString(),
    available: isAvailable,
    reopens_at: reopensAtMs === null ? null : new Date(reopensAtMs).toISOString(),
    contact: leads !== null && (leads.when === "always" || !isAvailable),
  };
}
