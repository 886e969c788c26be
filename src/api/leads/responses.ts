/** Contacts as the team reads them. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { StoredContact } from "../../contracts/store/store.ts";
import type { ContactFacts } from "../../domain/feedback.ts";
import { instant, namedObject } from "../../http/schemas/named-object.ts";
import { Nullable } from "../../http/schemas/schema.ts";
import { toRfc3339 } from "../../lib/clock.ts";

export const LeadObject = namedObject("Lead", () => ({
  conversation_id: t.String({ format: "uuid" }),
  companion_id: t.String({ format: "uuid" }),
  email: Nullable(
    t.String({
      description:
        "Null, as name and message are then: the server's key has changed, and what was left cannot be read.",
      examples: ["ada@example.com"],
    }),
  ),
  name: Nullable(t.String({ examples: ["Ada"] })),
  message: Nullable(t.String({ examples: ["Do you repair bicycles?"] })),
  consent_text: t.String({ description: "What the visitor agreed to.", examples: ["You may write to me."] }),
  consented_at: instant("When the visitor agreed."),
}));
export type Lead = Static<typeof LeadObject>;

/** The order of the columns of CSV. */
export const leadColumns = [
  ...(["conversation_id", "companion_id", "email", "name", "message", "consent_text", "consented_at"] as const),
] satisfies (keyof Lead)[];

export function toWireLead(
  { conversationId, companionId, consentText, consentedAt }: StoredContact,
  facts: ContactFacts | null,
): Lead {
  const { email, name, message } = facts ?? { email: null, name: null, message: null };
  return {
    ...{ conversation_id: conversationId, companion_id: companionId, email, name, message },
    ...{ consent_text: consentText, consented_at: toRfc3339(consentedAt) },
  };
}
