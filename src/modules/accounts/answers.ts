/** What the accounts' routes answer, for the API document alone. */
import { Type as t } from "@sinclair/typebox";
import { AccountObject } from "../../http/account-answer.ts";
import { listOf } from "../../http/list-schema.ts";

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
