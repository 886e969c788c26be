/** What operators send to manage accounts. */
import { type Static, Type as t } from "@sinclair/typebox";
import { AccountObject, emailText, planChoice, roleChoice } from "../../http/account-schema.ts";
import { listOf } from "../../http/list-schema.ts";
import { compileChecker } from "../../http/schema.ts";

export { toWireAccount } from "../../http/account-schema.ts";

// No password: the account's owner chooses one by a link, and no digest of a body that holds one is kept for replays.
export const NewAccountBody = t.Object(
  { email: emailText, plan: t.Optional(planChoice), role: t.Optional(roleChoice) },
  { $id: "NewAccount", additionalProperties: false },
);
export type NewAccountBody = Static<typeof NewAccountBody>;
export const newAccountBody = compileChecker(NewAccountBody);

export const AccountPatchBody = t.Object(
  {
    plan: t.Optional(planChoice),
    role: t.Optional(roleChoice),
    suspended: t.Optional(
      t.Boolean({ description: "True: keys, sign-ins and embed tokens are refused until it is false again." }),
    ),
  },
  { $id: "AccountPatch", additionalProperties: false },
);
export type AccountPatchBody = Static<typeof AccountPatchBody>;
export const accountPatchBody = compileChecker(AccountPatchBody);

/** May be sent back with a patch, and is ignored. */
export const readOnlyFields = ["id", "email", "suspended_at", "created_at"] as const;

export const AccountList = listOf(AccountObject, "AccountList");

export const ResetLink = t.Object(
  {
    url: t.String({
      format: "uri",
      description: "Give it to the account's owner by a safe way; it is not kept.",
      examples: ["https://companions.example/app/reset#3mN0pQ7xVb2LkT9wYc4HsD1fGj6ZaR8uEi5XoBtWqMn"],
    }),
    expires_at: t.String({ format: "date-time" }),
  },
  { $id: "ResetLink" },
);
