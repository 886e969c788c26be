/** Responses of the account routes: their schemas, created on first use, and the conversion into them. */

import { type Static, Type as t } from "@sinclair/typebox";
import type { VoiceAgentGrant as StoredGrant } from "../../contracts/store/store.ts";
import { namedObject } from "../../http/schemas/named-object.ts";
import { toRfc3339 } from "../../lib/clock.ts";

export const VoiceAgentGrantObject = namedObject("VoiceAgentGrant", () => ({
  agent_id: t.String({ description: "The agent's id at the voice provider.", examples: ["agent_01jxyz"] }),
  companions: t.Integer({ description: "Companions of the account that use it." }),
  created_at: t.String({ format: "date-time", description: "When it was granted." }),
}));
export type VoiceAgentGrant = Static<typeof VoiceAgentGrantObject>;

export const ResetLink = namedObject("ResetLink", () => ({
  url: t.String({
    format: "uri",
    description: "Give it to the account's owner over a safe channel; it is not stored.",
    examples: ["https://companions.example/app/reset#3mN0pQ7xVb2LkT9wYc4HsD1fGj6ZaR8uEi5XoBtWqMn"],
  }),
  expires_at: t.String({ format: "date-time" }),
}));
export type ResetLink = Static<typeof ResetLink>;

export function toWireGrant({ agentId, companions, createdAt }: StoredGrant): VoiceAgentGrant {
  return { agent_id: agentId, companions, created_at: toRfc3339(createdAt) };
}
