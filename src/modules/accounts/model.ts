/** What operators send to manage accounts. */
import { type Static, Type as t } from "@sinclair/typebox";
import { emailText, planChoice, roleChoice } from "../../http/account-schema.ts";
import { compileChecker } from "../../http/schema.ts";

export { toWireAccount } from "../../http/account-schema.ts";

// No password: the account's owner chooses one by a link, and no digest of a body that holds one is kept for replays.
export const newAccountBody = compileChecker(() =>
  t.Object(
    { email: emailText(), plan: t.Optional(planChoice()), role: t.Optional(roleChoice()) },
    { $id: "NewAccount", additionalProperties: false },
  ),
);
export type NewAccountBody = Static<typeof newAccountBody.schema>;

export const accountPatchBody = compileChecker(() =>
  t.Object(
    {
      plan: t.Optional(planChoice()),
      role: t.Optional(roleChoice()),
      suspended: t.Optional(
        t.Boolean({ description: "True: keys, sign-ins and embed tokens are refused until it is false again." }),
      ),
    },
    { $id: "AccountPatch", additionalProperties: false },
  ),
);
export type AccountPatchBody = Static<typeof accountPatchBody.schema>;

/** May be sent back with a patch, and is ignored. */
export const readOnlyFields = ["id", "email", "suspended_at", "has_totp", "created_at"] as const;
