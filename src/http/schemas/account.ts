/** Accounts and new passwords on the wire, for account management and sign-in. */
import { type Static, Type as t } from "@sinclair/typebox";
import { type Account, plans, roles } from "../../domain/account.ts";
import { normalizeEmail } from "../../domain/email.ts";
import { findPasswordProblem, shortestPassword } from "../../domain/password.ts";
import { toNullableRfc3339, toRfc3339 } from "../../lib/clock.ts";
import { namedObject } from "./named-object.ts";
import { Nullable, OneOf, Text } from "./schema.ts";

export function planChoice() {
  return OneOf(plans, { description: "Decides the daily messages of each of its companions." });
}

export function roleChoice() {
  return OneOf(roles, { description: "An operator also manages accounts." });
}

export function emailText() {
  return Text({
    maxLength: 254,
    accepts: (text) => normalizeEmail(text) !== null,
    problem: "Must be an e-mail address of at most 254 characters.",
    description: "An e-mail address; kept in lower case.",
    examples: ["owner@shop.example"],
  });
}

export function newPasswordText() {
  return Text({
    findProblem: findPasswordProblem,
    description: `At least ${shortestPassword} characters, at most 1024 bytes of UTF-8, and not one of the most common ones.`,
    examples: ["correct horse battery staple"],
  });
}

export const AccountObject = namedObject("Account", () => ({
  id: t.String({ format: "uuid" }),
  email: t.String({ examples: ["owner@shop.example"] }),
  plan: planChoice(),
  role: roleChoice(),
  suspended_at: Nullable(
    t.String({ format: "date-time", description: "Since when its keys, sign-ins and embed tokens are refused." }),
  ),
  has_totp: t.Boolean({ description: "Whether signing in to it takes a second factor." }),
  created_at: t.String({ format: "date-time" }),
}));

export function toWireAccount(account: Account): Static<typeof AccountObject> {
  return {
    id: account.id,
    email: account.email,
    plan: account.plan,
    role: account.role,
    suspended_at: toNullableRfc3339(account.suspendedAt),
    has_totp: account.totpConfirmedAt !== null,
    created_at: toRfc3339(account.createdAt),
  };
}
