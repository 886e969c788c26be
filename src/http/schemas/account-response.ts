/** An account in responses, only for the API document: created on first use. */
import { Type as t } from "@sinclair/typebox";
import { planChoice, roleChoice } from "./account.ts";
import { namedObject } from "./named-object.ts";
import { Nullable } from "./schema.ts";

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
