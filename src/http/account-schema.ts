/** Accounts and new passwords on the wire, for the routes that manage accounts and for those that sign in to them. */
import { type TSchema, Type as t } from "@sinclair/typebox";
import { type Account, plans, roles } from "../domain/account.ts";
import { normalizeEmail } from "../domain/email.ts";
import { findPasswordProblem } from "../domain/password.ts";
import { toRfc3339 } from "../lib/clock.ts";
import { Nullable, Text } from "./schema.ts";

export const planChoice = t.Union(
  plans.map((plan) => t.Literal(plan)),
  { description: "Decides the daily messages of each of its companions." },
);

export const roleChoice = t.Union(
  roles.map((role) => t.Literal(role)),
  { description: "An operator also manages accounts." },
);

export const emailText = Text({
  maxLength: 254,
  accepts: (text) => normalizeEmail(text) !== null,
  problem: "Must be an e-mail address of at most 254 characters.",
  description: "An e-mail address; kept in lower case.",
  examples: ["owner@shop.example"],
});

export const newPasswordText: TSchema & { static: string } = Text({
  accepts: (text) => findPasswordProblem(text) === null,
  problem: "Must be well-formed text of at least 8 characters and at most 1024 bytes.",
  description: "At least 8 characters, at most 1024 bytes of UTF-8. Nothing else is asked of it.",
  examples: ["correct horse battery staple"],
});

export const AccountObject = t.Object(
  {
    id: t.String({ format: "uuid" }),
    email: t.String({ examples: ["owner@shop.example"] }),
    plan: planChoice,
    role: roleChoice,
    suspended_at: Nullable(
      t.String({ format: "date-time", description: "Since when its keys, sign-ins and embed tokens are refused." }),
    ),
    created_at: t.String({ format: "date-time" }),
  },
  { $id: "Account" },
);

export function toWireAccount(account: Account) {
  return {
    id: account.id,
    email: account.email,
    plan: account.plan,
    role: account.role,
    suspended_at: account.suspendedAt === null ? null : toRfc3339(account.suspendedAt),
    created_at: toRfc3339(account.createdAt),
  };
}
