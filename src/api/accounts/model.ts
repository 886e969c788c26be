/** What operators send to manage accounts. */
import { type Static, Type as t } from "@sinclair/typebox";
import { agentIdPattern } from "../../domain/voice-fields.ts";
import { emailText, planChoice, roleChoice } from "../../http/schemas/account.ts";
import { compileBody, Text } from "../../http/schemas/schema.ts";

// No password: the owner chooses one with a link, and no digest of a body with a password is stored for replays.
export const newAccountBody = compileBody("NewAccount", () => ({
  email: emailText(),
  plan: t.Optional(planChoice()),
  role: t.Optional(roleChoice()),
}));
export type NewAccountBody = Static<typeof newAccountBody.schema>;

export const accountPatchBody = compileBody("AccountPatch", () => ({
  plan: t.Optional(planChoice()),
  role: t.Optional(roleChoice()),
  suspended: t.Optional(
    t.Boolean({ description: "True: keys, sign-ins and embed tokens are refused until it is false again." }),
  ),
}));
export type AccountPatchBody = Static<typeof accountPatchBody.schema>;

export const newGrantBody = compileBody("NewVoiceAgentGrant", () => ({
  agent_id: Text({
    pattern: agentIdPattern,
    problem: "Must be an agent's id: 1 to 200 characters without white space.",
    description: "The agent's id at the voice provider.",
    examples: ["agent_01jxyz"],
  }),
}));
