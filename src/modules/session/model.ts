/** Sign-in, one-time links and sessions on the wire. */
import { type Static, Type as t } from "@sinclair/typebox";
import { type Account, type Scope, scopes } from "../../domain/account.ts";
import { AccountObject, emailText, newPasswordText, toWireAccount } from "../../http/account-schema.ts";
import { listOf } from "../../http/list-schema.ts";
import { compileChecker, Nullable, Text } from "../../http/schema.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import type { Session } from "../../store/store.ts";

const closed = { additionalProperties: false };
const givenPassword = Text({
  maxLength: 1024,
  description: "The password.",
  examples: ["correct horse battery staple"],
});
const linkSecret = Text({ maxLength: 200, description: "The part of the link after `#`.", examples: ["3mN0pQ…"] });

export const SignIn = t.Object(
  {
    email: Text({
      maxLength: 1024,
      description: "The account's address, in any case.",
      examples: ["owner@shop.example"],
    }),
    password: givenPassword,
  },
  { $id: "SignIn", ...closed },
);
export type SignIn = Static<typeof SignIn>;
export const signInBody = compileChecker(SignIn);

export const SetUp = t.Object(
  { secret: linkSecret, email: emailText, password: newPasswordText },
  { $id: "SetUp", ...closed },
);
export type SetUp = Static<typeof SetUp>;
export const setUpBody = compileChecker(SetUp);

export const PasswordReset = t.Object(
  { secret: linkSecret, password: newPasswordText },
  { $id: "PasswordReset", ...closed },
);
export type PasswordReset = Static<typeof PasswordReset>;
export const passwordResetBody = compileChecker(PasswordReset);

export const PasswordChange = t.Object(
  { current_password: givenPassword, new_password: newPasswordText },
  { $id: "PasswordChange", ...closed },
);
export type PasswordChange = Static<typeof PasswordChange>;
export const passwordChangeBody = compileChecker(PasswordChange);

export const SessionObject = t.Object(
  {
    id: t.String({ format: "uuid" }),
    user_agent: Nullable(
      t.String({ description: "The browser, as it called itself at sign-in.", examples: ["Mozilla/5.0"] }),
    ),
    ip: Nullable(
      t.String({ description: "Where the sign-in came from, cut to its network.", examples: ["192.0.2.0/24"] }),
    ),
    is_current: t.Boolean({ description: "Whether this request was made with it." }),
    created_at: t.String({ format: "date-time" }),
    last_used_at: t.String({ format: "date-time", description: "To the minute." }),
    expires_at: t.String({ format: "date-time", description: "Its end, used or not." }),
  },
  { $id: "Session" },
);

export const SessionList = listOf(SessionObject, "SessionList");

export const SignedIn = t.Object(
  {
    account: AccountObject,
    scopes: t.Array(t.Union(scopes.map((scope) => t.Literal(scope))), { description: "What it may do." }),
    session: SessionObject,
  },
  { $id: "SignedIn" },
);

export function toWireSession(session: Session, currentId: string) {
  return {
    id: session.id,
    user_agent: session.userAgent,
    ip: session.ipPrefix,
    is_current: session.id === currentId,
    created_at: toRfc3339(session.createdAt),
    last_used_at: toRfc3339(session.lastUsedAt),
    expires_at: toRfc3339(session.expiresAt),
  };
}

export function toWireSignedIn(account: Account, session: Session, granted: readonly Scope[]) {
  return { account: toWireAccount(account), scopes: granted, session: toWireSession(session, session.id) };
}
